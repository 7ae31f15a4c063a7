DROP VIEW IF EXISTS doctor_saturation_attached;
CREATE VIEW doctor_saturation_attached AS
-- Question: did the program run before it was recorded?
-- Rows: those of doctor_saturation with the code attached; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: the recorder attached to it.
-- Known false positives: none.
SELECT *
FROM doctor_saturation
WHERE code = 'attached';
