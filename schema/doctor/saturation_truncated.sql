DROP VIEW IF EXISTS doctor_saturation_truncated;
CREATE VIEW doctor_saturation_truncated AS
-- Question: which stacks were cut?
-- Rows: those of doctor_saturation with the code truncated; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: truncated > 0 in a profile of the kind.
-- Known false positives: stacks that were cut below frames nobody asks for.
SELECT *
FROM doctor_saturation
WHERE code = 'truncated';
