DROP VIEW IF EXISTS doctor_lock_deadlock;
CREATE VIEW doctor_lock_deadlock AS
-- Question: for which locks did threads wait without end: for each other, or still when their process ended?
-- Rows: those of doctor_lock with the code deadlock; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: of a recorded run that ended badly, in one process: waits for a mutex, rwlock or spin lock that did not end, of
--   lock_deadlock_wait_ns (250 ms) or longer, and either another lock of the process has such waits, or the wait is longer than
--   lock_deadlock_holds (10) times its longest hold there. Of a process that goes on: threads that wait for each other, for that long.
-- Known false positives: a program that is killed while threads queue for two locks that are held long.
SELECT *
FROM doctor_lock
WHERE code = 'deadlock';
