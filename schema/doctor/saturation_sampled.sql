DROP VIEW IF EXISTS doctor_saturation_sampled;
CREATE VIEW doctor_saturation_sampled AS
-- Question: of which kinds was only every Nth event recorded?
-- Rows: those of doctor_saturation with the code sampled; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: N > 1.
-- Known false positives: none: N stands in the run.
SELECT *
FROM doctor_saturation
WHERE code = 'sampled';
