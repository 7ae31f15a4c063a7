-- Who had the lock :subject of run :run: the line with most of its holds, of all stacks that waited for it or had it for longer than 5 to 8 us
-- (lock_use); a row only where that is half of all its holds or more. With the stack that has half of them or more alone, if one has.
WITH used AS MATERIALIZED (
    SELECT lock_use_facts.trace_id, sum(hold_ns) AS hold_ns
    FROM profiles
    JOIN lock_use_facts ON lock_use_facts.profile_id = profiles.id
    JOIN objects ON objects.id = lock_use_facts.object_id
    WHERE profiles.run_id = :run AND objects.name = :subject
    GROUP BY lock_use_facts.trace_id)
SELECT places.function, places.file, places.line, sum(CASE WHEN used.trace_id <> 0 THEN used.hold_ns ELSE 0 END) AS stack_ns,
       max(CASE WHEN 2 * used.hold_ns >= (SELECT sum(hold_ns) FROM used) THEN used.trace_id END)
FROM used
JOIN places ON places.trace_id = used.trace_id
GROUP BY places.function, places.file, places.line
HAVING stack_ns > 0 AND 2 * stack_ns >= (SELECT sum(hold_ns) FROM used)
ORDER BY stack_ns DESC, places.function, places.line
LIMIT 1
