DROP VIEW IF EXISTS doctor_wait_slow_producer;
CREATE VIEW doctor_wait_slow_producer AS
-- Question: in which queues do consumers wait for work?
-- Rows: those of doctor_wait with the code slow-producer; the severity is explained there.
-- Columns: those of doctor_wait.
-- Thresholds: of the condition variables of one mutex, or the semaphores of one queue, the one with the longest waits, and the first that was used: waits >=
--   wait_queue_count (100), wait_percent >= wait_queue_percent (10 %), and less than half of the waits ended at a time limit.
-- Known false positives: one worker that waits for requests on purpose.
SELECT *
FROM doctor_wait
WHERE code = 'slow-producer';
