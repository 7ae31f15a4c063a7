-- Changes that were accepted, of runs that are still there.
SELECT runs.id, runs.started_ns, runs.uuid, accepted_changes.figure, accepted_changes.subject, accepted_changes.why
FROM accepted_changes
JOIN runs ON runs.uuid = accepted_changes.run_uuid
ORDER BY accepted_changes.accepted_ns DESC, runs.id DESC
