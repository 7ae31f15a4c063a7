-- The task sites of profile :profile, one sample each, in the columns of `clear export --sql`. The frame is the place in the
-- source that spawns the fibers, as far as it is known.
SELECT
    CASE WHEN line > 0 THEN printf('%s#%d line %d', coalesce(nullif(kind, ''), 'task'), site, line) ELSE printf('task#%d', site) END AS function,
    line AS line,
    nullif(dispatch, '') AS "label:dispatch",
    nullif(form, '') AS "label:form",
    spawns AS "spawns/count",
    runs AS "runs/count",
    exits AS "exits/count",
    total_lifetime_ns AS "lifetime/nanoseconds"
FROM task_sites
WHERE profile_id = :profile
ORDER BY site;
