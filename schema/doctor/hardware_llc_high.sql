DROP VIEW IF EXISTS doctor_hardware_llc_high;
CREATE VIEW doctor_hardware_llc_high AS
-- Question: do many accesses miss the last-level cache?
-- The rows of doctor_hardware with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_hardware
WHERE code = 'llc-high';
