DROP VIEW IF EXISTS doctor_hardware_ipc_good;
CREATE VIEW doctor_hardware_ipc_good AS
-- Question: does the processor work all the time?
-- Rows: those of doctor_hardware with the code ipc-good; the severity is explained there.
-- Columns: those of doctor_hardware.
-- Thresholds: ipc >= hardware_ipc_good (2.0).
-- Known false positives: a loop that spins: it has many instructions per cycle and does no work.
SELECT *
FROM doctor_hardware
WHERE code = 'ipc-good';
