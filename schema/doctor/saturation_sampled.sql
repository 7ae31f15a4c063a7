DROP VIEW IF EXISTS doctor_saturation_sampled;
CREATE VIEW doctor_saturation_sampled AS
-- Question: which kinds were recorded by every Nth event only?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'sampled';
