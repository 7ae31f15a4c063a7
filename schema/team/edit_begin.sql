-- Begins to change runs. clear store gc, which may delete them, waits until it is over, and we for it.
BEGIN;
SET LOCAL lock_timeout = '60s';
SELECT pg_advisory_xact_lock_shared(4998189, 4)
