DROP VIEW IF EXISTS doctor_fibers_micro_fibers;
CREATE VIEW doctor_fibers_micro_fibers AS
-- Question: do most fibers live so shortly that starting them costs more than their work?
-- Rows: those of doctor_fibers with the code micro-fibers; the severity is explained there.
-- Columns: those of doctor_fibers.
-- Thresholds: total_fibers >= fibers_micro_count (50), very_short_percent >= fibers_micro_percent (50 %).
-- Known false positives: fibers that exist to keep a slow call from blocking others.
SELECT *
FROM doctor_fibers
WHERE code = 'micro-fibers';
