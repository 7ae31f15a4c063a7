DROP VIEW IF EXISTS doctor_processors_crowded;
CREATE VIEW doctor_processors_crowded AS
-- Question: did threads wait for a processor rather than for each other?
-- Rows: those of doctor_processors with the code crowded; the severity is explained there.
-- Columns: those of doctor_processors.
-- Thresholds: run_delay_ns >= processors_delay_ns (100 ms) and delay_percent >= processors_delay_percent (20 %).
-- Known false positives: none; the kernel counts it.
SELECT *
FROM doctor_processors
WHERE code = 'crowded';
