-- The versioned cells of a set of runs, those that copied most first. :spans as in serve/lock_objects.sql.
SELECT
    objects.name,
    objects.identity,
    sum(reads) AS reads,
    sum(commits) AS commits,
    sum(multi_commits) AS multi_commits,
    sum(retries) AS retries,
    sum(update_failures) AS update_failures,
    max(struct_size) AS struct_size,
    sum(struct_size * (commits + retries)) AS cow_bytes
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN cells ON cells.profile_id = profiles.id
JOIN objects ON objects.id = cells.object_id
GROUP BY objects.id
ORDER BY cow_bytes DESC, reads DESC, objects.id
