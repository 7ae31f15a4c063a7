-- The task sites of the windows of run :run that end after :from and up to :to, one sample a process and site, in the columns of
-- `clear export --sql`. The frame is the place in the source that spawns the fibers, as far as it is known.
SELECT
    CASE WHEN max(task_sites.line) > 0
         THEN printf('%s#%d line %d', coalesce(nullif(max(task_sites.kind), ''), 'task'), site, max(task_sites.line))
         ELSE printf('task#%d', site) END AS function,
    max(task_sites.line) AS line,
    nullif(max(dispatch), '') AS "label:dispatch",
    nullif(max(form), '') AS "label:form",
    sum(spawns) AS "spawns/count",
    sum(runs) AS "runs/count",
    sum(exits) AS "exits/count",
    sum(total_lifetime_ns) AS "lifetime/nanoseconds"
FROM task_sites
JOIN profiles ON profiles.id = task_sites.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), site
ORDER BY coalesce(profiles.process_id, profiles.id), site;
