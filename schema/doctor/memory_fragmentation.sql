DROP VIEW IF EXISTS doctor_memory_fragmentation;
CREATE VIEW doctor_memory_fragmentation AS
-- Question: which process has far more memory for its heap than its blocks ever needed?
-- Rows: those of doctor_memory with the code fragmentation; the severity is explained there.
-- Columns: those of doctor_memory.
-- Thresholds: heap_bytes >= fragment_bytes (32 MiB), and fragment_ratio (2) times need_bytes.
-- Known false positives: threads that allocate much one after another, each from an arena of its own.
SELECT *
FROM doctor_memory
WHERE code = 'fragmentation';
