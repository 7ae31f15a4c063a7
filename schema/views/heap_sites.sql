DROP VIEW IF EXISTS heap_sites;
CREATE VIEW heap_sites AS
-- Question: which allocation sites may have something wrong, and what is known of each?
-- Rows: one per run and stack: those of site_facts, and the rows of the profiles of heap_profile_facts that have live blocks, of an ingested run
--   also those of which none is freed. NULL of a figure from samples on: as in site_facts.
-- Columns:
--   run_id [id]: the run
--   trace_id [id]: the stack that allocated
--   fact_trace_id [id]: the same, of a row of site_facts; NULL: of another
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: of those blocks, the freed ones, whoever freed them
--   free_bytes [bytes]: their bytes
--   inuse_count [count]: blocks live at the end
--   inuse_bytes [bytes]: bytes live at the end
--   live_percent [percent]: inuse_bytes of all live bytes of the run, a whole number; NULL: none are live
--   alloc_percent [percent]: alloc_count of all blocks of the run, a whole number
--   process_inuse_count [count]: blocks live at the end in the process that has most
--   grown_count [count]: as in site_facts, and process_inuse_count where that is NULL
--   start_percent [percent]: as in site_facts
--   samples [count]: as in site_facts
--   average_live_bytes [bytes]: as in site_facts
--   is_fine [0 or 1]: as in site_facts, and so the next seven
--   is_all_fine [0 or 1]: no window of each process that has live blocks is longer than a fifth of its life
--   life_ns [ns]: life of the process that lost most, where blocks are lost; else the shortest of these processes
--   quiet_percent [percent]: of its life for which such a process went on after the last rise
--   growth_bytes [bytes]: by how much its live bytes rose from the second to the fourth fifth
--   growth_percent [percent]: the least rise of the three, of growth_bytes
--   rising_fifths [count]: in how many fifths a process got more than a tenth of what it has live at its end
--   late_bytes [bytes]: by how much the live bytes rose in the last two fifths
--   weight [bytes]: as in site_facts
--   temporary_count [count]: as in site_detail_facts, and so the others; 0 where that has no row
--   step_count [count]: calls of realloc that made a block larger by less than an eighth; as the next six, in the process whose steps copied most
--   step_bytes [bytes]: that these blocks had before
--   resize_growth_bytes [bytes]: by how much realloc made the blocks of the stack larger in all
--   copy_step_count [count]: copies into a block that is larger by less than an eighth
--   copy_step_bytes [bytes]: of these blocks
--   copy_growth_bytes [bytes]: by how much the new ones are larger
--   copy_percent [percent]: copy_step_count of replaced_count; NULL: no block was replaced
--   peak_bytes [bytes]: live when the live bytes of its process were highest; NULL: none, or not known
--   peak_percent [percent]: that, of all live bytes of the process at that moment; NULL: the same
--   lost_count [count]: live blocks that nothing reached at the end, in the process that lost most; NULL: a process with some of its blocks was not searched
--   lost_bytes [bytes]: their bytes; NULL: the same
SELECT
    run_facts.run_id,
    coalesce(site_facts.trace_id, site_keys.trace_id) AS trace_id,
    site_facts.trace_id AS fact_trace_id,
    coalesce(site_facts.alloc_count, site_rows.alloc_count) AS alloc_count,
    coalesce(site_facts.alloc_bytes, site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes) AS alloc_bytes,
    coalesce(site_facts.free_count, site_rows.free_count) AS free_count,
    coalesce(site_facts.free_bytes, site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes) AS free_bytes,
    coalesce(site_facts.alloc_count - site_facts.free_count, site_rows.alloc_count - site_rows.free_count) AS inuse_count,
    coalesce(site_facts.alloc_bytes - site_facts.free_bytes,
             coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes)
             - coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes)) AS inuse_bytes,
    CAST(round(100.0 * coalesce(site_facts.alloc_bytes - site_facts.free_bytes,
                                coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes)
                                - coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes))
               / nullif(heap_facts.inuse_bytes, 0)) AS BIGINT) AS live_percent,
    CAST(round(100.0 * coalesce(site_facts.alloc_count, site_rows.alloc_count) / nullif(heap_facts.alloc_count, 0)) AS BIGINT) AS alloc_percent,
    coalesce(process_inuse_count, site_facts.alloc_count - site_facts.free_count, site_rows.alloc_count - site_rows.free_count)
        AS process_inuse_count,
    coalesce(grown_count, process_inuse_count, site_facts.alloc_count - site_facts.free_count, site_rows.alloc_count - site_rows.free_count)
        AS grown_count,
    start_percent,
    CASE WHEN site_rows.profile_id IS NULL THEN samples
         WHEN profiles.sample_n > 1 THEN CAST(round(1.0 * (site_rows.alloc_count - site_rows.free_count) / profiles.sample_n) AS BIGINT)
         WHEN profiles.period_type = 'space' AND profiles.period > 1 -- one block in the period, and each that is larger
         THEN CAST(round((site_rows.alloc_count - site_rows.free_count)
                         / CASE WHEN coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes)
                                     < 1.0 * profiles.period * site_rows.alloc_count
                                THEN 1.0 * profiles.period * site_rows.alloc_count
                                     / coalesce(nullif(coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes), 0), 1)
                                ELSE 1.0 END) AS BIGINT)
         END AS samples,
    CASE WHEN site_rows.profile_id IS NULL THEN average_live_bytes WHEN profiles.process_id IS NOT NULL THEN 0 END AS average_live_bytes,
    is_fine, is_all_fine, life_ns, quiet_percent, growth_bytes, growth_percent, rising_fifths, late_bytes, weight,
    coalesce(temporary_count, 0) AS temporary_count, coalesce(step_count, 0) AS step_count, coalesce(step_bytes, 0) AS step_bytes,
    coalesce(resize_growth_bytes, 0) AS resize_growth_bytes, coalesce(copy_step_count, 0) AS copy_step_count,
    coalesce(copy_step_bytes, 0) AS copy_step_bytes, coalesce(copy_growth_bytes, 0) AS copy_growth_bytes,
    100.0 * copy_step_count / nullif(replaced_count, 0) AS copy_percent, peak_bytes, peak_percent,
    CASE WHEN is_searched = 1 THEN nullif(coalesce(lost_count, 0), -1) END AS lost_count,
    CASE WHEN is_searched = 1 AND coalesce(lost_count, 0) >= 0 THEN coalesce(lost_bytes, 0) END AS lost_bytes
FROM run_facts
JOIN heap_facts ON heap_facts.run_id = run_facts.run_id
-- Two sources, one after the other. Not a UNION ALL, into which SQLite takes no condition from a query that counts.
CROSS JOIN (SELECT 0 AS is_row UNION ALL SELECT 1) AS source
LEFT JOIN site_facts ON site_facts.run_id = CASE source.is_row WHEN 0 THEN run_facts.run_id END
LEFT JOIN site_detail_facts ON site_detail_facts.run_id = site_facts.run_id AND site_detail_facts.trace_id = site_facts.trace_id
LEFT JOIN heap_profile_facts ON heap_profile_facts.run_id = CASE source.is_row WHEN 1 THEN run_facts.run_id END
LEFT JOIN profiles ON profiles.id = heap_profile_facts.profile_id
LEFT JOIN site_rows ON site_rows.profile_id = profiles.id
LEFT JOIN site_keys ON site_keys.id = site_rows.site_key_id
WHERE site_facts.trace_id IS NOT NULL
   OR (site_rows.alloc_count > site_rows.free_count OR site_rows.free_count = 0 AND run_facts.is_recorded = 0 AND site_rows.alloc_count > 0)
      AND NOT EXISTS (SELECT 1 FROM site_facts AS fact WHERE fact.run_id = run_facts.run_id AND fact.trace_id = site_keys.trace_id);
