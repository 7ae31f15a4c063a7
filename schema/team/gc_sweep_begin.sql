-- Begins to delete names. Who pushes waits, and afterwards knows by `swept` that names may be gone. We wait 0.9 s for those who push now:
-- others wait behind us.
BEGIN;
SET LOCAL lock_timeout = '900ms';
SELECT pg_advisory_xact_lock(4998189, 4);
SELECT pg_advisory_xact_lock(4998189, 2);
INSERT INTO clear.meta(key, value) VALUES ('swept', '1')
ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + 1;
-- Runs that were pushed since the names were looked at.
CREATE TEMP TABLE newer ON COMMIT DROP AS
SELECT project, month, run
FROM clear.run_names
EXCEPT
SELECT project, month, run
FROM pg_temp.seen;
ANALYZE pg_temp.newer
