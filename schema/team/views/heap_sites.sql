-- The view heap_sites of a file, written for PostgreSQL; schema/views/heap_sites.sql documents its columns. The table site_keys of a file would
-- here be made of all runs, and PostgreSQL takes a condition into UNION ALL.
CREATE VIEW heap_sites AS
SELECT
    site.run_id, trace_id, fact_trace_id, site.alloc_count, alloc_bytes, free_count, free_bytes,
    site.alloc_count - free_count AS inuse_count, alloc_bytes - free_bytes AS inuse_bytes,
    round(100.0 * (alloc_bytes - free_bytes) / nullif(heap_facts.inuse_bytes, 0))::bigint AS live_percent,
    round(100.0 * site.alloc_count / nullif(heap_facts.alloc_count, 0))::bigint AS alloc_percent,
    coalesce(process_inuse_count, site.alloc_count - free_count) AS process_inuse_count,
    coalesce(grown_count, process_inuse_count, site.alloc_count - free_count) AS grown_count,
    start_percent, samples, average_live_bytes, is_fine, is_all_fine, life_ns, quiet_percent, growth_bytes, growth_percent, rising_fifths, late_bytes,
    weight, temporary_count, step_count, step_bytes, resize_growth_bytes, copy_step_count, copy_step_bytes, copy_growth_bytes, copy_percent,
    peak_bytes, peak_percent,
    CASE WHEN is_searched = 1 THEN nullif(lost_count, -1) END AS lost_count,
    CASE WHEN is_searched = 1 AND lost_count >= 0 THEN lost_bytes END AS lost_bytes
FROM heap_facts
JOIN (
    SELECT
        site_facts.run_id, site_facts.trace_id, site_facts.trace_id AS fact_trace_id, alloc_count, alloc_bytes, free_count, free_bytes,
        process_inuse_count, grown_count, start_percent, samples, average_live_bytes, is_fine, is_all_fine, life_ns, quiet_percent, growth_bytes,
        growth_percent, rising_fifths, late_bytes, weight, coalesce(temporary_count, 0) AS temporary_count, coalesce(step_count, 0) AS step_count,
        coalesce(step_bytes, 0) AS step_bytes, coalesce(resize_growth_bytes, 0) AS resize_growth_bytes,
        coalesce(copy_step_count, 0) AS copy_step_count, coalesce(copy_step_bytes, 0) AS copy_step_bytes,
        coalesce(copy_growth_bytes, 0) AS copy_growth_bytes, 100.0::float8 * copy_step_count / nullif(replaced_count, 0) AS copy_percent,
        peak_bytes, peak_percent, coalesce(lost_count, 0) AS lost_count, coalesce(lost_bytes, 0) AS lost_bytes
    FROM site_facts
    LEFT JOIN site_detail_facts ON site_detail_facts.run_id = site_facts.run_id AND site_detail_facts.trace_id = site_facts.trace_id
    UNION ALL
    SELECT
        heap_profile_facts.run_id, sites.trace_id, NULL, sites.alloc_count, sites.alloc_bytes, sites.free_count, sites.free_bytes,
        NULL, NULL, NULL,
        CASE WHEN profiles.sample_n > 1 THEN round(1.0 * (sites.alloc_count - sites.free_count) / profiles.sample_n)::bigint
             WHEN profiles.period_type = 'space' AND profiles.period > 1
             THEN round((sites.alloc_count - sites.free_count)
                        / greatest(1.0, 1.0 * profiles.period * sites.alloc_count / greatest(sites.alloc_bytes, 1)))::bigint END,
        CASE WHEN profiles.process_id IS NOT NULL THEN 0 END,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0
    FROM heap_profile_facts
    JOIN run_facts ON run_facts.run_id = heap_profile_facts.run_id
    JOIN clear_rows.profiles AS profiles ON profiles.id = heap_profile_facts.profile_id AND profiles.run_id = heap_profile_facts.run_id
    JOIN clear_rows.sites AS sites ON sites.profile_id = profiles.id AND sites.run_number = profiles.run_number
    WHERE (sites.alloc_count > sites.free_count OR sites.free_count = 0 AND run_facts.is_recorded = 0 AND sites.alloc_count > 0)
      AND NOT EXISTS (SELECT 1 FROM site_facts AS fact WHERE fact.run_id = heap_profile_facts.run_id AND fact.trace_id = sites.trace_id)
) AS site ON site.run_id = heap_facts.run_id;
