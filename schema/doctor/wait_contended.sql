DROP VIEW IF EXISTS doctor_wait_contended;
CREATE VIEW doctor_wait_contended AS
-- Question: which semaphores that threads take and give back, and locks that are futexes of another runtime, such as Mutex of Rust, do
--   threads wait for?
-- Rows: those of doctor_wait with the code contended; the severity is explained there.
-- Columns: those of doctor_wait.
-- Thresholds: own_wakes are half of the wakes, and wait_ns >= lock_wait_note_ns (1 ms).
-- Known false positives: a futex or semaphore that is no lock, and by which threads wake each other in turn.
SELECT *
FROM doctor_wait
WHERE code = 'contended';
