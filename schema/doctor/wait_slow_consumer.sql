DROP VIEW IF EXISTS doctor_wait_slow_consumer;
CREATE VIEW doctor_wait_slow_consumer AS
-- Question: in which queues do producers wait for room?
-- Rows: those of doctor_wait with the code slow-consumer; the severity is explained there.
-- Columns: those of doctor_wait.
-- Thresholds: of the condition variables of one mutex, the one with the longest waits, and the second that was used: waits >=
--   wait_queue_count (100), wait_percent >= wait_queue_percent (10 %), and less than half of the waits ended at a time limit.
-- Known false positives: a queue that is meant to hold producers back.
SELECT *
FROM doctor_wait
WHERE code = 'slow-consumer';
