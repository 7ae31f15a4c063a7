DROP VIEW IF EXISTS doctor_heap_arena;
CREATE VIEW doctor_heap_arena AS
-- Question: which sites make many tiny blocks?
-- Rows: those of doctor_heap with the code arena; the severity is explained there.
-- Columns: those of doctor_heap.
-- Thresholds: recorded: alloc_count >= heap_arena_count (1,000), mean_bytes < heap_arena_mean_bytes (16 B), process_inuse_count <
--   leak_warning_count (100). Ingested: nothing freed, mean_bytes < heap_arena_mean_bytes (16 B).
-- Known false positives: blocks with very different lifetimes: an arena would keep all of them until the last one is released.
SELECT *
FROM doctor_heap
WHERE code = 'arena';
