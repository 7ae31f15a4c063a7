DROP VIEW IF EXISTS doctor_lock_atomic_fit;
CREATE VIEW doctor_lock_atomic_fit AS
-- Question: which busy locks are mostly exclusive, and may guard no more than one word?
-- Rows: those of doctor_lock with the code atomic-fit; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: of a recorded run mean_hold_ns < lock_fit_hold_ns (1,000 ns); read_percent < lock_atomic_read_percent (50 %), and either total_acquires >= lock_fit_acquires (1,000) with
--   contended_percent >= lock_fit_contended_percent (10 %), or total_acquires >= lock_atomic_acquires (100,000); none of the
--   codes before it.
-- Known false positives: a lock that guards several fields which must change together.
SELECT *
FROM doctor_lock
WHERE code = 'atomic-fit';
