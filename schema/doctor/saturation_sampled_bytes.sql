DROP VIEW IF EXISTS doctor_saturation_sampled_bytes;
CREATE VIEW doctor_saturation_sampled_bytes AS
-- Question: were allocations sampled by size?
-- The rows of doctor_saturation with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_saturation
WHERE code = 'sampled-bytes';
