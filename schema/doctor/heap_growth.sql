DROP VIEW IF EXISTS doctor_heap_growth;
CREATE VIEW doctor_heap_growth AS
-- Question: which sites take more and more memory through the run, though they free it at the end?
-- Rows: those of doctor_heap with the code growth; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: recorded: growth_bytes is more than growth_bytes (65,536 B) and growth_peak_percent (1 %) of the peak, and less than
--   leak_site_percent (5 %) of the blocks are live at the end, or the run was interrupted.
-- Known false positives: a program that builds one result of its whole input, such as a compiler.
SELECT *
FROM doctor_heap
WHERE code = 'growth';
