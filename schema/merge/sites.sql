-- The allocation sites of run :run of a warehouse that is merged. The view sites is not asked, because it is a text of that file.
SELECT
    site_rows.profile_id,
    site_keys.trace_id,
    site_keys.label_set_id,
    site_rows.alloc_count,
    coalesce(site_rows.alloc_bytes, site_rows.alloc_count * site_keys.block_bytes),
    site_rows.free_count,
    coalesce(site_rows.free_bytes, site_rows.free_count * site_keys.block_bytes)
FROM main.profiles
JOIN main.site_rows ON site_rows.profile_id = profiles.id
JOIN main.site_keys ON site_keys.id = site_rows.site_key_id
WHERE profiles.run_id = :run
ORDER BY profiles.id, site_rows.site_key_id
