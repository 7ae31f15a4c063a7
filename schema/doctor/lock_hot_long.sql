DROP VIEW IF EXISTS doctor_lock_hot_long;
CREATE VIEW doctor_lock_hot_long AS
-- Question: which locks do many operations wait for while each holder keeps it long?
-- Rows: those of doctor_lock with the code hot-long; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: contended_percent >= lock_contended_percent (20 %), mean_hold_ns > lock_long_hold_ns (1 ms); none of the codes
--   before it.
-- Known false positives: waits that are short in sum: then it is a note.
SELECT *
FROM doctor_lock
WHERE code = 'hot-long';
