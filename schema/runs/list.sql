-- The runs that `clear runs` prints, the newest first: those of the JSON array :only of ids, or all where it is NULL; the :last newest
-- of them, or all where it is negative.
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
WHERE run_id IN (
    SELECT id
    FROM runs
    WHERE :only IS NULL OR id IN (SELECT value FROM json_each(:only))
    ORDER BY started_ns DESC, id DESC
    LIMIT :last
)
ORDER BY started_ns DESC, run_id DESC
