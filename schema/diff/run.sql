-- The run :run, for a line of the header.
SELECT
    coalesce(label, '') AS label,
    iif(command = '', source, command) AS command,
    started_ns,
    duration_ns
FROM runs
WHERE id = :run
