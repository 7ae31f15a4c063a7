DROP VIEW IF EXISTS doctor_lock_contended;
CREATE VIEW doctor_lock_contended AS
-- Question: which locks do many operations wait for, though holds are short?
-- Rows: those of doctor_lock with the code contended; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: contended_percent >= lock_contended_percent (20 %); none of the codes before it.
-- Known false positives: waits that are short in sum: then it is a note.
SELECT *
FROM doctor_lock
WHERE code = 'contended';
