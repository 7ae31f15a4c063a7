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

-- The totals of a run, from the figures that were stored with it (schema/team/head_totals.sql likewise). A figure that was not recorded is 0.
CREATE VIEW clear_views.run_totals AS
SELECT names.number AS run_id, figure.alloc_count, figure.alloc_bytes, figure.inuse_count, figure.inuse_bytes, figure.peak_bytes,
       figure.lock_acquires, figure.lock_contended, figure.lock_wait_ns, figure.cpu_ns, figure.recorder_cpu_ns, loss.dropped, loss.truncated,
       loss.sample_n, loss.sample_bytes
FROM clear.run_names AS names
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'alloc_count'), 0)::bigint AS alloc_count,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'alloc_bytes'), 0)::bigint AS alloc_bytes,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'inuse_count'), 0)::bigint AS inuse_count,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'inuse_bytes'), 0)::bigint AS inuse_bytes,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'peak_bytes'), 0)::bigint AS peak_bytes,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'lock_acquires'), 0)::bigint AS lock_acquires,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'lock_contended'), 0)::bigint AS lock_contended,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'lock_wait_ns'), 0)::bigint AS lock_wait_ns,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'cpu_ns'), 0)::bigint AS cpu_ns,
           coalesce(pg_catalog.sum(value) FILTER (WHERE figure = 'recorder_cpu_ns'), 0)::bigint AS recorder_cpu_ns
    FROM clear.figures
    WHERE figures.project = names.project AND figures.month = names.month AND figures.run = names.run AND subject = ''
    HAVING count(*) > 0) AS figure
CROSS JOIN LATERAL (
    SELECT coalesce(pg_catalog.sum(dropped), 0)::bigint AS dropped, coalesce(pg_catalog.sum(truncated), 0)::bigint AS truncated,
           greatest(pg_catalog.max(sample_n), 1) AS sample_n,
           greatest(pg_catalog.max(period) FILTER (WHERE kind = 'heap' AND period_type = 'space' AND sample_n <= 1), 1) AS sample_bytes
    FROM clear.profiles
    WHERE profiles.project = names.project AND profiles.month = names.month AND profiles.run = names.run) AS loss
WHERE names.project = clear_views.project();

-- The views of a file read what has the number of a run.
SET LOCAL search_path = clear_rows, clear_views, pg_catalog, pg_temp;
