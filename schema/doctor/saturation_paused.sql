DROP VIEW IF EXISTS doctor_saturation_paused;
CREATE VIEW doctor_saturation_paused AS
-- Question: for how long was recording switched off?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'paused';
