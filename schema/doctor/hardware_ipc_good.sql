DROP VIEW IF EXISTS doctor_hardware_ipc_good;
CREATE VIEW doctor_hardware_ipc_good AS
-- Question: does the processor work all the time?
-- The rows of doctor_hardware with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_hardware
WHERE code = 'ipc-good';
