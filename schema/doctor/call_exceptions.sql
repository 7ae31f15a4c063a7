DROP VIEW IF EXISTS doctor_call_exceptions;
CREATE VIEW doctor_call_exceptions AS
-- Question: which function throws exceptions so often that they take much of the CPU time?
-- Rows: those of doctor_call with the code exceptions; the severity is explained there.
-- Columns: those of doctor_call.
-- Thresholds: cpu_percent >= call_exception_percent (20 %), samples >= call_samples (10).
-- Known false positives: a test that makes errors on purpose.
SELECT *
FROM doctor_call
WHERE code = 'exceptions';
