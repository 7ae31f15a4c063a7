DROP VIEW IF EXISTS doctor_hardware_llc_high;
CREATE VIEW doctor_hardware_llc_high AS
-- Question: do many accesses miss the last-level cache?
-- Rows: those of doctor_hardware with the code llc-high; the severity is explained there.
-- Columns: those of doctor_hardware.
-- Thresholds: llc_miss_percent > hardware_llc_high_percent (20 %).
-- Known false positives: another process that shares the cache; data that is larger than any cache and used at random.
SELECT *
FROM doctor_hardware
WHERE code = 'llc-high';
