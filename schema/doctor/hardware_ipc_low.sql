DROP VIEW IF EXISTS doctor_hardware_ipc_low;
CREATE VIEW doctor_hardware_ipc_low AS
-- Question: does the processor wait more than it works?
-- The rows of doctor_hardware with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_hardware
WHERE code = 'ipc-low';
