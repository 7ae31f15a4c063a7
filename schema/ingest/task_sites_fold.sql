-- Adds the task sites of profile :from to those of profile :into. `schedulers` is a JSON object, scheduler to runs: its values are
-- summed by key.
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,
                       schedulers, kind, line, column)
SELECT :into, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form,
       schedulers, kind, line, column
FROM task_sites
WHERE profile_id = :from
ON CONFLICT (profile_id, site) DO UPDATE
SET spawns = spawns + excluded.spawns,
    runs = runs + excluded.runs,
    exits = exits + excluded.exits,
    total_lifetime_ns = total_lifetime_ns + excluded.total_lifetime_ns,
    max_lifetime_ns = max(max_lifetime_ns, excluded.max_lifetime_ns),
    schedulers = (SELECT json_group_object(key, runs)
                  FROM (SELECT key, sum(value) AS runs
                        FROM (SELECT key, value FROM json_each(task_sites.schedulers)
                              UNION ALL
                              SELECT key, value FROM json_each(excluded.schedulers))
                        GROUP BY key
                        ORDER BY CAST(key AS INTEGER)));
