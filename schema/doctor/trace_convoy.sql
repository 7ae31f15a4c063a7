DROP VIEW IF EXISTS doctor_trace_convoy;
CREATE VIEW doctor_trace_convoy AS
-- Question: for which locks do threads queue up all the time, one behind the other?
-- Rows: those of doctor_trace with the code convoy; the severity is explained there.
-- Columns: those of doctor_trace.
-- Thresholds: trace_convoy_count (100) waits, of which trace_convoy_percent (50 %) began as the trace_convoy_waiters-th (3rd) or later of those
--   that waited then; together trace_convoy_time_percent (10 %) of the run's duration.
-- Known false positives: none known.
SELECT *
FROM doctor_trace
WHERE code = 'convoy';
