DROP VIEW IF EXISTS doctor_lock_mvcc_fit;
CREATE VIEW doctor_lock_mvcc_fit AS
-- Question: which contended locks are mostly taken to read?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'mvcc-fit';
