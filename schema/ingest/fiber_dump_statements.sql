-- The statements of ingest/read/dumps/fiber_dump.c.

-- @task_site_dump: A row of the section "per-site fibers" of fibers.txt.
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form, schedulers)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10);

-- @task_site_marker: A marker of a task site in a transpiled source. What fibers.txt said of dispatch and form is kept.
INSERT INTO task_sites(profile_id, site, kind, line, column, dispatch, form)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (profile_id, site) DO UPDATE
SET kind = excluded.kind,
    line = excluded.line,
    column = excluded.column,
    dispatch = iif(dispatch = '', excluded.dispatch, dispatch),
    form = iif(form = '', excluded.form, form);
