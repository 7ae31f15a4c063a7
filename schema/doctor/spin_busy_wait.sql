DROP VIEW IF EXISTS doctor_spin_busy_wait;
CREATE VIEW doctor_spin_busy_wait AS
-- Question: which threads wait in a loop of machine code that only asks memory again?
-- Rows: those of doctor_spin with the code busy-wait; the severity is explained there.
-- Columns: those of doctor_spin.
-- Thresholds: samples >= spin_samples (5), cpu_percent >= spin_percent (10 %), and function_percent >= spin_function_percent (80 %).
-- Known false positives: a spin lock that is held for nanoseconds on processors of its own.
SELECT *
FROM doctor_spin
WHERE code = 'busy-wait';
