DROP VIEW IF EXISTS doctor_lock_starved;
CREATE VIEW doctor_lock_starved AS
-- Question: for which locks do few operations wait, but for a large share of the time?
-- Rows: those of doctor_lock with the code starved; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: recorded: wait_percent >= lock_starved_percent (10 %), and none of the codes before it; or the longest waits of the
--   run, from lock_wait_note_ns (1 ms) on.
-- Known false positives: a lock by which idle workers wait for work on purpose.
SELECT *
FROM doctor_lock
WHERE code = 'starved';
