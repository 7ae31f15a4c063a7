-- The places that start fibers in a set of runs, those with the longest lives first. :spans as in serve/lock_objects.sql.
SELECT
    'site ' || site || iif(max(line) > 0, ', line ' || max(line), '') AS name,
    'site#' || site AS identity,
    max(task_sites.kind) AS kind,
    max(dispatch) AS dispatch,
    max(form) AS form,
    max(line) AS line,
    sum(total_lifetime_ns) AS total_lifetime_ns,
    max(max_lifetime_ns) AS max_lifetime_ns,
    sum(spawns) AS spawns,
    sum(runs) AS runs,
    sum(exits) AS exits
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN task_sites ON task_sites.profile_id = profiles.id
GROUP BY site
ORDER BY total_lifetime_ns DESC, site
