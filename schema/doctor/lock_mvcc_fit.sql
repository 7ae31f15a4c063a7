DROP VIEW IF EXISTS doctor_lock_mvcc_fit;
CREATE VIEW doctor_lock_mvcc_fit AS
-- Question: which contended locks are mostly taken for reading?
-- Rows: those of doctor_lock with the code mvcc-fit; the severity is explained there.
-- Columns: those of doctor_lock.
-- Thresholds: read_percent >= lock_mvcc_read_percent (80 %), total_acquires >= lock_fit_acquires (1,000), contended_percent >=
--   lock_fit_contended_percent (10 %), or of a recorded run wait_percent >= lock_starved_percent (10 %); none of the codes before
--   it.
-- Known false positives: large data that is written often: each new version would copy it.
SELECT *
FROM doctor_lock
WHERE code = 'mvcc-fit';
