DROP VIEW IF EXISTS doctor_heap_quadratic_growth;
CREATE VIEW doctor_heap_quadratic_growth AS
-- Question: which stacks resize a buffer at each append?
-- Rows: those of doctor_heap with the code quadratic-growth; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: step_count >= quadratic_count (1,000), and step_bytes >= quadratic_bytes (67,108,864 B) and >= quadratic_ratio (16) times
--   resize_growth_bytes.
-- Known false positives: a loop that makes its buffer anew for each piece, a little larger each time, and copies nothing. Not seen: a buffer of
--   less than 4,096 B that is copied by hand, one that different stacks copy in turn, and one whose thread allocates in between.
SELECT *
FROM doctor_heap
WHERE code = 'quadratic-growth';
