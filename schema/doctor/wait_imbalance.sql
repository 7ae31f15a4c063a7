DROP VIEW IF EXISTS doctor_wait_imbalance;
CREATE VIEW doctor_wait_imbalance AS
-- Question: at which barriers do threads wait for the slowest of them?
-- Rows: those of doctor_wait with the code imbalance; the severity is explained there.
-- Columns: those of doctor_wait.
-- Thresholds: waits >= wait_imbalance_count (10), and wait_percent >= wait_queue_percent (10 %).
-- Known false positives: threads with equal work on processors that other programs use.
SELECT *
FROM doctor_wait
WHERE code = 'imbalance';
