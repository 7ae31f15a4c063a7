DROP VIEW IF EXISTS doctor_hardware_llc_moderate;
CREATE VIEW doctor_hardware_llc_moderate AS
-- Question: do more accesses than usual miss the last-level cache?
-- Rows: those of doctor_hardware with the code llc-moderate; the severity is explained there.
-- Columns: those of doctor_hardware.
-- Thresholds: llc_miss_percent > hardware_llc_moderate_percent (10 %) and not llc-high.
-- Known false positives: misses of start-up; a file that is read once.
SELECT *
FROM doctor_hardware
WHERE code = 'llc-moderate';
