DROP VIEW IF EXISTS doctor_saturation_dropped;
CREATE VIEW doctor_saturation_dropped AS
-- Question: which events could not be recorded?
-- Rows: those of doctor_saturation with the code dropped; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: dropped > 0 in a profile of the kind.
-- Known false positives: none: events were lost. count says how many, not how large they were.
SELECT *
FROM doctor_saturation
WHERE code = 'dropped';
