-- The run :run, for a line of the header.
SELECT
    coalesce(label, '') AS label,
    iif(command = '', source, command) AS command,
    started_ns,
    duration_ns,
    coalesce(exit_signal, 0) AS exit_signal
FROM runs
WHERE id = :run
