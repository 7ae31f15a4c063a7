DROP VIEW IF EXISTS doctor_heap_quadratic_growth;
CREATE VIEW doctor_heap_quadratic_growth AS
-- Question: which stacks resize a buffer at each append?
-- Rows: those of doctor_heap with the code quadratic-growth; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: step_count >= quadratic_count (1,000), and step_bytes >= quadratic_bytes (67,108,864 B) and >= quadratic_ratio (16) times
--   resize_growth_bytes.
-- Known false positives: none known. A buffer that is copied by malloc, memcpy and free instead of realloc is not seen.
SELECT *
FROM doctor_heap
WHERE code = 'quadratic-growth';
