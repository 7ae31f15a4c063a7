DROP VIEW IF EXISTS doctor_thread_busy_wait;
CREATE VIEW doctor_thread_busy_wait AS
-- Question: which stack waits without blocking?
-- Rows: those of doctor_thread with the code busy-wait; the severity is explained there.
-- Columns: those of doctor_thread.
-- Thresholds: yields and failed_tries together are busy_wait_count (1,000) or more, or short_sleeps >= busy_wait_sleeps (2,000).
-- Known false positives: a program that paces itself by short sleeps on purpose; a lock that spins for a moment before it waits.
SELECT *
FROM doctor_thread
WHERE code = 'busy-wait';
