-- Every run as `clear runs` prints it for people, the newest first.
SELECT
    run_id,
    started_ns,
    duration_ns,
    coalesce(label, '') AS label,
    iif(command = '', source, command) AS command,
    alloc_count,
    alloc_bytes,
    inuse_bytes,
    lock_wait_ns,
    exit,
    flags,
    dropped,
    truncated,
    sample_n,
    sample_bytes
FROM run_summary
ORDER BY started_ns DESC, run_id DESC
