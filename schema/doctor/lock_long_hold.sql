DROP VIEW IF EXISTS doctor_lock_long_hold;
CREATE VIEW doctor_lock_long_hold AS
-- Question: which locks are held long, though few wait yet?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'long-hold';
