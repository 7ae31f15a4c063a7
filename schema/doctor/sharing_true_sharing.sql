DROP VIEW IF EXISTS doctor_sharing_true_sharing;
CREATE VIEW doctor_sharing_true_sharing AS
-- Question: which variables do several threads change so often that they wait for the cache line?
-- Rows: those of doctor_sharing with the code true-sharing; the severity is explained there.
-- Columns: those of doctor_sharing.
-- Thresholds: hitm >= sharing_hitm_count (10), hitm_percent >= sharing_percent (10 %), false_percent < sharing_false_percent (50 %).
-- Known false positives: the word of a lock, where the lock is what to look at.
SELECT *
FROM doctor_sharing
WHERE code = 'true-sharing';
