DROP VIEW IF EXISTS doctor_lock_ok;
CREATE VIEW doctor_lock_ok AS
-- Question: which locks need no change?
-- Rows: those of doctor_lock with the code ok; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: none of the other codes.
-- Known false positives: none: nothing is reported.
SELECT *
FROM doctor_lock
WHERE code = 'ok';
