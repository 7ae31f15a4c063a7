-- The two tables of a file that have its allocation sites, over the view `sites`. The key of a site is that of its stack; with labels a hash.
CREATE VIEW clear_rows.site_rows AS
SELECT profile_id, CASE WHEN label_set_id = 0 THEN trace_id ELSE hashint8extended(trace_id, label_set_id) END AS site_key_id,
       alloc_count, free_count, alloc_bytes, free_bytes, run_number
FROM clear_rows.sites;

CREATE VIEW clear_views.site_rows AS
SELECT profile_id, site_key_id, alloc_count, free_count, alloc_bytes, free_bytes
FROM clear_rows.site_rows;

CREATE VIEW clear_views.site_keys AS
SELECT DISTINCT CASE WHEN label_set_id = 0 THEN trace_id ELSE hashint8extended(trace_id, label_set_id) END AS id,
       trace_id, label_set_id, 0::bigint AS block_bytes
FROM clear_views.sites;

-- The views of a file read what has the number of a run.
SET LOCAL search_path = clear_rows, clear_views, pg_catalog, pg_temp;
