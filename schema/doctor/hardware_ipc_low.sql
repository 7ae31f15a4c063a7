DROP VIEW IF EXISTS doctor_hardware_ipc_low;
CREATE VIEW doctor_hardware_ipc_low AS
-- Question: does the processor wait more than it works?
-- Rows: those of doctor_hardware with the code ipc-low; the severity is explained there.
-- Columns: those of doctor_hardware.
-- Thresholds: ipc < hardware_ipc_low (1.0).
-- Known false positives: a program that mostly sleeps.
SELECT *
FROM doctor_hardware
WHERE code = 'ipc-low';
