DROP VIEW IF EXISTS doctor_heap_temporary;
CREATE VIEW doctor_heap_temporary AS
-- Question: which sites make blocks in a hot loop, and free each before they make the next?
-- Rows: those of doctor_heap with the code temporary; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: recorded: temporary_count >= heap_temporary_count (400,000), which are heap_temporary_percent (50 %) of the
--   site's blocks, and fewer than leak_warning_count (100) are live in each process.
-- Known false positives: a block whose size is not known before the loop, and may be large.
SELECT *
FROM doctor_heap
WHERE code = 'temporary';
