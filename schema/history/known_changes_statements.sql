-- The statements of query/history/known_changes.c.

-- @accept: Accepts the change of :figure of :subject in the run :run, because :why.
INSERT INTO accepted_changes(run_uuid, figure, subject, why, accepted_ns)
SELECT uuid, :figure, :subject, :why, :now
FROM runs
WHERE id = :run
ON CONFLICT (run_uuid, figure, subject) DO UPDATE SET why = excluded.why, accepted_ns = excluded.accepted_ns;

-- @accepted: The accepted changes: uuid of the run, figure, subject, reason, and the id and start of the run, 0 where it is not in this file.
SELECT run_uuid, figure, subject, why, coalesce(runs.id, 0), coalesce(runs.started_ns, 0)
FROM accepted_changes
LEFT JOIN runs ON runs.uuid = run_uuid
ORDER BY accepted_ns DESC, run_uuid, figure, subject;

-- @forget: The change of :figure of :subject in the run :run is not accepted any more.
DELETE FROM accepted_changes
WHERE run_uuid = (SELECT uuid FROM runs WHERE id = :run) AND figure = :figure AND subject = :subject;
