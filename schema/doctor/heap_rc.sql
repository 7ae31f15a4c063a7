DROP VIEW IF EXISTS doctor_heap_rc;
CREATE VIEW doctor_heap_rc AS
-- Question: which sites of an ingested file allocate and never free?
-- Rows: those of doctor_heap with the code rc; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: ingested: nothing freed, mean_bytes >= heap_arena_mean_bytes (16 B).
-- Known false positives: blocks that are meant to live as long as the program.
SELECT *
FROM doctor_heap
WHERE code = 'rc';
