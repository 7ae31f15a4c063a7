DROP VIEW IF EXISTS doctor_heap_peak;
CREATE VIEW doctor_heap_peak AS
-- Question: which stacks take far more memory for a moment than in the rest of the run?
-- Rows: those of doctor_heap with the code peak; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: peak_bytes >= heap_peak_bytes (16 MiB), peak_percent >= heap_peak_percent (50 %), and peak_bytes >= heap_peak_ratio (4)
--   times average_live_bytes and inuse_bytes.
-- Known false positives: data that must be whole at one time, such as an index that is built and then written.
SELECT *
FROM doctor_heap
WHERE code = 'peak';
