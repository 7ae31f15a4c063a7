DROP VIEW IF EXISTS doctor_saturation_dropped;
CREATE VIEW doctor_saturation_dropped AS
-- Question: which events could not be recorded?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'dropped';
