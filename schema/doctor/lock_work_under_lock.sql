DROP VIEW IF EXISTS doctor_lock_work_under_lock;
CREATE VIEW doctor_lock_work_under_lock AS
-- Question: under which locks that threads wait for does a holder read, write or allocate?
-- Rows: those of doctor_lock with the code work-under-lock; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: io_ns, and work_allocs at heap_temporary_block_ns (50 ns) each, are lock_work_percent (30 %) of hold_ns, and io_ns is no more
--   than lock_work_most_percent (120 %) of it; and threads wait for the lock.
-- Known false positives: work that a function does after it gave the lock back, as long as the holds are.
SELECT *
FROM doctor_lock
WHERE code = 'work-under-lock';
