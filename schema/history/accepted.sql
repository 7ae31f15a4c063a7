-- The accepted changes: uuid of the run, figure, subject, reason, and the id and start of the run, 0 where it is not in this file.
SELECT run_uuid, figure, subject, why, coalesce(runs.id, 0), coalesce(runs.started_ns, 0)
FROM accepted_changes
LEFT JOIN runs ON runs.uuid = run_uuid
ORDER BY accepted_ns DESC, run_uuid, figure, subject;
