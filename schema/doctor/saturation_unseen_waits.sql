DROP VIEW IF EXISTS doctor_saturation_unseen_waits;
CREATE VIEW doctor_saturation_unseen_waits AS
-- Question: did the program wait in ways that no hook sees?
-- Rows: those of doctor_saturation with the code unseen-waits; the severity is explained there.
-- Columns: those of doctor_saturation.
-- Thresholds: unseen_waits_count (1,000) waits, and unseen_waits_percent (50 %) of all, or more.
-- Known false positives: input, output and sleep, which are no locks.
SELECT *
FROM doctor_saturation
WHERE code = 'unseen-waits';
