DROP VIEW IF EXISTS doctor_queue_unbounded;
CREATE VIEW doctor_queue_unbounded AS
-- Question: into which queues without a bound does more go than is taken out?
-- Rows: those of doctor_queue with the code unbounded; the severity is explained there.
-- Columns: those of doctor_queue.
-- Thresholds: peak_bytes >= queue_unbounded_bytes (4 MiB) in queue_unbounded_count (100) blocks, peak_percent >= queue_unbounded_peak_percent
--   (20 %), and queued_percent >= queue_unbounded_queued_percent (25 %).
-- Known false positives: a list of jobs that is meant to be held as a whole.
SELECT *
FROM doctor_queue
WHERE code = 'unbounded';
