DROP VIEW IF EXISTS doctor_lock_contended;
CREATE VIEW doctor_lock_contended AS
-- Question: which locks do many wait for, though holds are short?
-- The rows of doctor_lock with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_lock
WHERE code = 'contended';
