DROP VIEW IF EXISTS doctor_hardware_branch_high;
CREATE VIEW doctor_hardware_branch_high AS
-- Question: are many branches mispredicted?
-- Rows: those of doctor_hardware with the code branch-high; the severity is explained there.
-- Columns: those of doctor_hardware.
-- Thresholds: branch_miss_percent > hardware_branch_high_percent (5 %).
-- Known false positives: parsing of input that cannot be predicted.
SELECT *
FROM doctor_hardware
WHERE code = 'branch-high';
