DROP VIEW IF EXISTS doctor_wait_lost_wakeup;
CREATE VIEW doctor_wait_lost_wakeup AS
-- Question: for which condition variables do threads wait to the time limit, though they had been signalled before?
-- Rows: those of doctor_wait with the code lost-wakeup; the severity is explained there.
-- Columns: those of doctor_wait.
-- Thresholds: lost_wakes >= wait_lost_count (10), and 100 * lost_wakes >= wait_lost_percent (50 %) * timeouts.
-- Known false positives: none known.
SELECT *
FROM doctor_wait
WHERE code = 'lost-wakeup';
