DROP VIEW IF EXISTS doctor_lock_atomic_ptr_fit;
CREATE VIEW doctor_lock_atomic_ptr_fit AS
-- Question: which contended locks see reads and writes alike?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'atomic-ptr-fit';
