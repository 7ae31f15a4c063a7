DROP VIEW IF EXISTS doctor_freeze;
CREATE VIEW doctor_freeze AS
-- Question: which objects are scattered over the heap of a program that waits for memory?
-- Rows: one per row of freeze_facts with a finding: a stack of a run that was counted (perf stat).
-- Columns: those of doctor, and
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   mean_bytes [bytes]: mean size of a block
--   llc_miss_percent [percent]: of the run, as in the view hardware
--   llc_misses [count]: of the run, as in the view hardware
--   llc_references [count]: of the run, as in the view hardware
-- Thresholds (names are rows of the table rules):
--   freeze: llc_miss_percent >= freeze_llc_percent (20 %), alloc_count >= freeze_alloc_count (5,000), mean_bytes from
--     freeze_mean_bytes_low (16 B) to freeze_mean_bytes_high (512 B), both included.
-- Severity: that of the advice, but a note if alloc_bytes < freeze_note_bytes (1 MiB), which fits in a cache.
-- Known false positives: the misses may come from other data (large arrays, mapped files); blocks that are never live at the same
--   time.
SELECT
    site.run_id, 'freeze' AS section, 'freeze' AS code,
    CASE WHEN alloc_bytes < (SELECT value FROM rules WHERE name = 'freeze_note_bytes') THEN 'note' ELSE advice.severity END AS severity,
    CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('alloc_count', alloc_count, 'alloc_bytes', alloc_bytes, 'mean_bytes', round(1.0 * alloc_bytes / nullif(alloc_count, 0), 1),
                'llc_miss_percent', llc_miss_percent, 'llc_misses', llc_misses, 'llc_references', llc_references) AS evidence,
    '[' || site.trace_id || ']' AS trace_ids, advice.text AS advice,
    site.trace_id, places.function, places.file, places.line, places.module, alloc_count, alloc_bytes,
    round(1.0 * alloc_bytes / nullif(alloc_count, 0), 1) AS mean_bytes, llc_miss_percent, llc_misses, llc_references
FROM freeze_facts AS site
JOIN advice
    ON advice.code = CASE WHEN alloc_count >= (SELECT value FROM rules WHERE name = 'freeze_alloc_count')
                               AND 1.0 * alloc_bytes / nullif(alloc_count, 0) >= (SELECT value FROM rules WHERE name = 'freeze_mean_bytes_low')
                               AND 1.0 * alloc_bytes / nullif(alloc_count, 0) <= (SELECT value FROM rules WHERE name = 'freeze_mean_bytes_high')
                          THEN 'freeze-freeze'
                          ELSE 'freeze-none' END
JOIN hardware ON hardware.run_id = site.run_id AND llc_miss_percent >= (SELECT value FROM rules WHERE name = 'freeze_llc_percent')
JOIN places ON places.trace_id = site.trace_id;
