DROP VIEW IF EXISTS doctor_memory;
CREATE VIEW doctor_memory AS
-- Question: which process has far more memory for its heap than its blocks ever needed?
-- Rows: one per row of memory_facts with a finding.
-- Columns: those of doctor, those of memory_facts, and
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
-- Thresholds (names are rows of the table rules):
--   fragmentation: heap_bytes >= fragment_bytes (32 MiB), and fragment_ratio (2) times need_bytes.
-- Severity: that of the advice, but a note if unused_bytes < fragment_note_bytes (64 MiB).
-- Measured: 60 B are kept of each message of 4 KiB, which shrinks in its place: 84 MiB of heap for 1.9 MiB live, 0.1 MiB more at the peak.
-- Known false positives: threads that allocate much one after another, each from an arena of its own.
SELECT
    found.run_id, 'memory' AS section, 'fragmentation' AS code,
    CASE WHEN unused_bytes < (SELECT value FROM rules WHERE name = 'fragment_note_bytes') THEN 'note' ELSE advice.severity END AS severity,
    CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('heap_bytes', heap_bytes, 'rss_bytes', rss_bytes, 'live_bytes', live_bytes, 'live_count', live_count, 'peak_bytes', peak_bytes,
                'need_bytes', need_bytes, 'unused_bytes', unused_bytes, 'classes', classes) AS evidence,
    '[' || found.trace_id || ']' AS trace_ids,
    advice.text || CASE WHEN classes = '' THEN '' ELSE ' Live between the holes: ' || classes || '.' END AS advice,
    process_id, found.trace_id, heap_bytes, rss_bytes, live_bytes, live_count, peak_bytes, need_bytes, unused_bytes, classes,
    places.function, places.file, places.line, places.module
FROM memory_facts AS found
JOIN advice ON advice.code = 'memory-fragmentation'
JOIN places ON places.trace_id = found.trace_id
WHERE heap_bytes >= (SELECT value FROM rules WHERE name = 'fragment_bytes')
  AND heap_bytes >= need_bytes * (SELECT value FROM rules WHERE name = 'fragment_ratio');
