-- The run :run, for a line of the header; and for how long threads of it were ready and had no processor.
SELECT
    coalesce(label, '') AS label,
    iif(command = '', source, command) AS command,
    started_ns,
    duration_ns,
    coalesce(exit_signal, 0) AS exit_signal,
    coalesce((SELECT run_delay_ns FROM run_facts WHERE run_facts.run_id = runs.id), 0) AS run_delay_ns
FROM runs
WHERE id = :run
