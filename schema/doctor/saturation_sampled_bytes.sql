DROP VIEW IF EXISTS doctor_saturation_sampled_bytes;
CREATE VIEW doctor_saturation_sampled_bytes AS
-- Question: were allocations sampled by size?
-- Rows: those of doctor_saturation with the code sampled-bytes; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: the period of a heap profile is more than one byte.
-- Known false positives: none: the period stands in the profile.
SELECT *
FROM doctor_saturation
WHERE code = 'sampled-bytes';
