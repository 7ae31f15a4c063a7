-- Begins to push a run. clear store gc waits until the transaction ends, and we for it. A statement takes no longer than ten minutes, unless the
-- role or the address has another limit.
BEGIN;
SELECT set_config('statement_timeout', '10min', true)
WHERE current_setting('statement_timeout') = '0';
SELECT pg_advisory_xact_lock_shared(4998189, 2)
