DROP VIEW IF EXISTS doctor_hardware_llc_moderate;
CREATE VIEW doctor_hardware_llc_moderate AS
-- Question: do more accesses than usual miss the last-level cache?
-- The rows of doctor_hardware with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_hardware
WHERE code = 'llc-moderate';
