-- The frames of the callers in locks.txt (:kind lock) or mvcc.txt (:kind mvcc) of run :run: one row an address and inlined function, the
-- innermost first. An address that two modules have has none.
WITH callers(trace_id) AS (
    SELECT locks.trace_id
    FROM profiles
    JOIN locks ON locks.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = :kind
    UNION
    SELECT cells.trace_id
    FROM profiles
    JOIN cells ON cells.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = :kind
), used(location_id, address) AS (
    SELECT DISTINCT locations.id, locations.address
    FROM callers
    JOIN traces ON traces.id = callers.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN locations ON locations.id = step.value
)
SELECT
    printf('0x%x', used.address),
    functions.name,
    functions.system_name,
    functions.filename,
    location_lines.line,
    functions.start_line
FROM used
JOIN location_lines ON location_lines.location_id = used.location_id
JOIN functions ON functions.id = location_lines.function_id
WHERE used.address NOT IN (SELECT address FROM used GROUP BY address HAVING count(*) > 1)
ORDER BY used.address, location_lines.position;
