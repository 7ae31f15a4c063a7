-- Accepts the change of :figure of :subject in the run :run, because :why.
INSERT INTO accepted_changes(run_uuid, figure, subject, why, accepted_ns)
SELECT uuid, :figure, :subject, :why, :now
FROM runs
WHERE id = :run
ON CONFLICT (run_uuid, figure, subject) DO UPDATE SET why = excluded.why, accepted_ns = excluded.accepted_ns;
