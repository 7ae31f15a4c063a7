-- A tag of run :run. Of one key, the last value counts.
INSERT INTO tags(run_id, key, value)
VALUES (:run, :key, :value)
ON CONFLICT (run_id, key) DO UPDATE
SET value = excluded.value;
