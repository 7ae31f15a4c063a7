DROP VIEW IF EXISTS doctor_lock_atomic_ptr_fit;
CREATE VIEW doctor_lock_atomic_ptr_fit AS
-- Question: which contended locks see reads and writes alike?
-- Rows: those of doctor_lock with the code atomic-ptr-fit; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: of a recorded run mean_hold_ns < lock_fit_hold_ns (1,000 ns); total_acquires >= lock_fit_acquires (1,000),
--   contended_percent >= lock_fit_contended_percent (10 %); none of the codes before it.
-- Known false positives: a lock that guards more than one object.
SELECT *
FROM doctor_lock
WHERE code = 'atomic-ptr-fit';
