DROP VIEW IF EXISTS doctor_lock_ok;
CREATE VIEW doctor_lock_ok AS
-- Question: which locks cost nothing worth a change?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'ok';
