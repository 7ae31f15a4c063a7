DROP VIEW IF EXISTS doctor_saturation_slow_flush;
CREATE VIEW doctor_saturation_slow_flush AS
-- Question: did the recorder take much time beside the program?
-- Rows: those of doctor_saturation with the code slow-flush; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: recorder_flush_ms (1,000 ms) and recorder_flush_percent (10 %) of the run, or more.
-- Known false positives: a machine with an idle processor: then the program lost nothing.
SELECT *
FROM doctor_saturation
WHERE code = 'slow-flush';
