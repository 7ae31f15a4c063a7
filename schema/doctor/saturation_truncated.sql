DROP VIEW IF EXISTS doctor_saturation_truncated;
CREATE VIEW doctor_saturation_truncated AS
-- Question: which stacks were cut?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'truncated';
