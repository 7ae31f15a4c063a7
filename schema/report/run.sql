-- The run :run, for the first lines of a doctor's report.
SELECT
    run_id,
    coalesce(label, '') AS label,
    iif(command = '', source, command) AS command,
    started_ns,
    duration_ns,
    exit,
    processes,
    alloc_count,
    alloc_bytes,
    inuse_count,
    inuse_bytes,
    lock_acquires,
    lock_contended,
    lock_wait_ns,
    cpu_ns,
    sample_n,
    sample_bytes,
    recorder_cpu_ns
FROM run_summary
WHERE run_id = :run
