-- The task sites of one run, its processes and windows summed, one row per number. The compiler numbers them in the order of the
-- source: an edit moves lines, but changes the number only if it adds or removes a task above. They have no stacks.
SELECT
    0 AS trace_id,
    'task:' || site AS identity,
    printf('task site %d', site) || iif(max(line) = 0, '', printf(' (%s line %d)', max(task_sites.kind), max(line))) AS name,
    sum(spawns) AS spawns,
    sum(runs) AS runs,
    sum(total_lifetime_ns) AS total_lifetime_ns
FROM profiles
JOIN task_sites ON task_sites.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY site
