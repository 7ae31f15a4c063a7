DROP VIEW IF EXISTS doctor_lock_atomic_fit;
CREATE VIEW doctor_lock_atomic_fit AS
-- Question: which busy locks are mostly taken to write, and may guard no more than a word?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'atomic-fit';
