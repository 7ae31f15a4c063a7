DROP VIEW IF EXISTS doctor_lock_deadlock;
CREATE VIEW doctor_lock_deadlock AS
-- Question: for which locks did threads still wait, for long, when a signal ended the program?
-- Rows: those of doctor_lock with the code deadlock; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: recorded, ended by a signal: a mutex, rwlock or spin lock with unfinished waits, unfinished_max_wait_ns >=
--   lock_deadlock_wait_ns (250 ms), and either another lock of the run has unfinished waits, or unfinished_max_wait_ns >
--   lock_deadlock_holds (10) times max_hold_ns.
-- Known false positives: a program that is killed while threads queue for two locks that are held long.
SELECT *
FROM doctor_lock
WHERE code = 'deadlock';
