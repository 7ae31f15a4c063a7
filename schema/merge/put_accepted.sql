-- An accepted change, unless it is known.
INSERT OR IGNORE INTO main.accepted_changes(run_uuid, figure, subject, why, accepted_ns)
VALUES (:uuid, :figure, :subject, :why, :accepted)
