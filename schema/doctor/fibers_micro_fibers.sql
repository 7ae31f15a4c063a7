DROP VIEW IF EXISTS doctor_fibers_micro_fibers;
CREATE VIEW doctor_fibers_micro_fibers AS
-- Question: do most fibers live so shortly that starting them costs more than their work?
-- The rows of doctor_fibers with this code: its condition, figures, severity and known false positives stand there.
SELECT *
FROM doctor_fibers
WHERE code = 'micro-fibers';
