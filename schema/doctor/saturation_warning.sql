DROP VIEW IF EXISTS doctor_saturation_warning;
CREATE VIEW doctor_saturation_warning AS
-- Question: which artefacts say themselves that they are incomplete?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'warning';
