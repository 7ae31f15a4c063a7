DROP VIEW IF EXISTS doctor_saturation_paused;
CREATE VIEW doctor_saturation_paused AS
-- Question: for how long was recording switched off?
-- Rows: those of doctor_saturation with the code paused; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: the recorder counted paused time.
-- Known false positives: a pause at which the program did nothing.
SELECT *
FROM doctor_saturation
WHERE code = 'paused';
