DROP VIEW IF EXISTS doctor_line_arena;
CREATE VIEW doctor_line_arena AS
-- Question: which line makes many tiny blocks, by many stacks?
-- Rows: those of doctor_line with the code arena; the severity is explained there.
-- Columns: those of doctor_line.
-- Thresholds: those of doctor_line: mean_bytes < heap_arena_mean_bytes (16 B), alloc_count >= heap_arena_warning_count (5,000),
--   alloc_percent >= heap_arena_warning_percent (10 %), process_inuse_count < leak_warning_count (100), and the blocks, at heap_temporary_block_ns (50 ns)
--   each, cost heap_arena_time_percent (10 %) of the run's time.
-- Known false positives: a function that only allocates for its callers, and that the table wrappers does not name.
SELECT *
FROM doctor_line
WHERE code = 'arena';
