-- Who had the lock :subject of run :run: the line with most of its holds, of all stacks that waited for it or had it for longer than 5 to 8 us
-- (lock_use); a row only where that is half of all its holds or more.
SELECT places.function, places.file, places.line, sum(iif(used.trace_id <> 0, used.hold_ns, 0)) AS stack_ns
FROM profiles
JOIN lock_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = used.trace_id
WHERE profiles.run_id = :run AND objects.name = :subject
GROUP BY places.function, places.file, places.line
HAVING stack_ns > 0
   AND 2 * stack_ns >= (SELECT sum(hold_ns)
                        FROM profiles
                        JOIN lock_use_facts ON lock_use_facts.profile_id = profiles.id
                        JOIN objects ON objects.id = lock_use_facts.object_id
                        WHERE profiles.run_id = :run AND objects.name = :subject)
ORDER BY stack_ns DESC, places.function, places.line
LIMIT 1
