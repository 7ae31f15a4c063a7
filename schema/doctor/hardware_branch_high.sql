DROP VIEW IF EXISTS doctor_hardware_branch_high;
CREATE VIEW doctor_hardware_branch_high AS
-- Question: are many branches mispredicted?
-- The rows of doctor_hardware with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_hardware
WHERE code = 'branch-high';
