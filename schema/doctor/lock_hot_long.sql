DROP VIEW IF EXISTS doctor_lock_hot_long;
CREATE VIEW doctor_lock_hot_long AS
-- Question: which locks do many wait for while each holder keeps it long?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'hot-long';
