-- Begins to give a month to another project: as who pushes, and alone among those who change runs.
BEGIN;
SET LOCAL lock_timeout = '900ms';
SELECT pg_advisory_xact_lock(4998189, 4);
SELECT pg_advisory_xact_lock_shared(4998189, 2);
CREATE TEMP TABLE piece (project bigint, month date, run uuid, PRIMARY KEY (project, month, run)) ON COMMIT DROP
