DROP VIEW IF EXISTS doctor_trace_inversion;
CREATE VIEW doctor_trace_inversion AS
-- Question: which two locks are taken in both orders, a deadlock that has not happened yet?
-- Rows: those of doctor_trace with the code inversion; the severity is explained there.
-- Columns: those of doctor_trace.
-- Thresholds: each of the two was asked for by a thread that had the other one.
-- Known false positives: both orders under a third lock, or never at one time (start and end of the program).
SELECT *
FROM doctor_trace
WHERE code = 'inversion';
