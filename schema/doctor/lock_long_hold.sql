DROP VIEW IF EXISTS doctor_lock_long_hold;
CREATE VIEW doctor_lock_long_hold AS
-- Question: which locks are held long, though few operations wait yet?
-- Rows: those of doctor_lock with the code long-hold; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: mean_hold_ns > lock_long_hold_ns (1 ms); none of the codes before it.
-- Known false positives: a lock that is held during one long step of start-up and that nobody waits for.
SELECT *
FROM doctor_lock
WHERE code = 'long-hold';
