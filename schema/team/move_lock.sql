-- Nobody pushes, edits or collects until the end of the transaction, which stands still while the last runs are copied. We wait 0.9 s for those who
-- do: others wait behind us.
BEGIN;
SET LOCAL lock_timeout = '900ms';
SET LOCAL idle_in_transaction_session_timeout = 0;
SELECT pg_advisory_xact_lock(4998189, 4);
SELECT pg_advisory_xact_lock(4998189, 2)
