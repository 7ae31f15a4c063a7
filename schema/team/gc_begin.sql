-- Begins to delete. Two who delete wait for each other, and for who changes runs. Nobody waits for us longer than we for others: then we give way,
-- before PostgreSQL looks for a deadlock (after 1 s) and ends a reader.
BEGIN;
SET LOCAL lock_timeout = '900ms';
SELECT pg_advisory_xact_lock(4998189, 4)
