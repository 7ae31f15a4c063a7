DROP VIEW IF EXISTS doctor_line_temporary;
CREATE VIEW doctor_line_temporary AS
-- Question: which line makes blocks that are freed at once, by many stacks?
-- Rows: those of doctor_line with the code temporary; the severity is explained there.
-- Columns: those of doctor_line.
-- Thresholds: those of doctor_line: temporary_count >= heap_temporary_count (400,000), and more.
-- Known false positives: a function that only allocates for its callers, and that the table wrappers does not name.
SELECT *
FROM doctor_line
WHERE code = 'temporary';
