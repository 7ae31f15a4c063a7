DROP VIEW IF EXISTS doctor_line_leak;
CREATE VIEW doctor_line_leak AS
-- Question: which line makes blocks that are lost, by many stacks?
-- Rows: those of doctor_line with the code leak; the severity is explained there.
-- Columns: those of doctor_line.
-- Thresholds: those of doctor_line: lost_bytes >= leak_warning_bytes (16 KiB) and lost_count >= leak_lost_count (10).
-- Known false positives: those of doctor_heap_leak.
SELECT *
FROM doctor_line
WHERE code = 'leak';
