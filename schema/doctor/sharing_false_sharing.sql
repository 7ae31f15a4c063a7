DROP VIEW IF EXISTS doctor_sharing_false_sharing;
CREATE VIEW doctor_sharing_false_sharing AS
-- Question: which variables of different threads are in one cache line, so that each write takes the line from the others?
-- Rows: those of doctor_sharing with the code false-sharing; the severity is explained there.
-- Columns: those of doctor_sharing.
-- Thresholds: hitm >= sharing_hitm_count (10), hitm_percent >= sharing_percent (10 %), false_percent >= sharing_false_percent (50 %).
-- Known false positives: an address that several threads use, but so rarely that one alone was sampled.
SELECT *
FROM doctor_sharing
WHERE code = 'false-sharing';
