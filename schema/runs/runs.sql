-- The statements of cli/runs.c.

-- @wanted: The runs that `clear runs` prints, a JSON array of ids: those of the JSON array :only of ids, or all where it is NULL; the :last newest
-- of them, or all where it is negative. :search: those with this text in label, command, source or a tag; :kind: those with such a
-- profile; :before: those that are older than that run; :since and :until: those that started on these days (UTC, YYYY-MM-DD) or
-- between them. NULL: whatever.
SELECT json_group_array(id)
FROM (
    SELECT id
    FROM runs
    WHERE (:only IS NULL OR id IN (SELECT value FROM json_each(:only)))
      AND (:search IS NULL
        OR instr(lower(coalesce(label, '') || char(10) || command || char(10) || source), lower(:search))
        OR id IN (SELECT run_id FROM tags WHERE instr(lower(key || '=' || value), lower(:search))))
      AND (:kind IS NULL OR EXISTS (SELECT 1 FROM profiles WHERE run_id = runs.id AND kind = :kind))
      AND (:before IS NULL
        OR (started_ns, id) < (SELECT started_ns, id FROM runs WHERE id = :before))
      AND (:since IS NULL OR started_ns >= 1000000000 * strftime('%s', :since))
      AND (:until IS NULL OR started_ns < 1000000000 * strftime('%s', :until, '+1 day'))
    ORDER BY started_ns DESC, id DESC
    LIMIT :last
)

-- @list: The runs :runs (a JSON array of ids), the newest first: a line of `clear runs`.
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
    sample_bytes,
    EXISTS (SELECT 1 FROM pins WHERE pins.run_id = run_summary.run_id)
FROM run_summary
WHERE run_id IN (SELECT value FROM json_each(:runs))
ORDER BY started_ns DESC, run_id DESC

-- @list_whole: The same with all columns of run_summary: `clear runs --json`. Then why the run is pinned; NULL: it is not. The
-- last two columns are JSON: the kinds of profile that the run has, and its tags.
SELECT
    *,
    (SELECT why FROM pins WHERE pins.run_id = run_summary.run_id) AS pinned,
    (SELECT json_group_array(kind) FROM (SELECT DISTINCT kind FROM profiles WHERE run_id = run_summary.run_id ORDER BY kind)) AS kinds,
    (SELECT json_group_object(key, value) FROM (SELECT key, value FROM tags WHERE run_id = run_summary.run_id ORDER BY key)) AS tags
FROM run_summary
WHERE run_id IN (SELECT value FROM json_each(:runs))
ORDER BY started_ns DESC, run_id DESC
