DROP VIEW IF EXISTS doctor_heap;
CREATE VIEW doctor_heap AS
-- Question: which allocation sites leak, and which would be cheaper in an arena?
-- Rows: one per run and stack with a finding; processes, profiles and label sets are summed, values of sampled profiles as they are.
-- Columns: those of doctor, and
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: of those blocks, the freed ones, whoever freed them
--   free_bytes [bytes]: their bytes
--   inuse_count [count]: blocks live at the end
--   inuse_bytes [bytes]: bytes live at the end
--   process_inuse_count [count]: blocks live at the end in the process that has most
--   grown_count [count]: live blocks that came after the start of a process, in the process that has most
--   growth_bytes [bytes]: by how much they rose from the second to the fourth fifth of a process; 0: not in each; NULL: windows are too long
--   samples [count]: samples that the live blocks of process_inuse_count are estimated from; NULL: all blocks were recorded
--   error_percent [percent]: the true process_inuse_count is within this of it in 95 of 100 runs; NULL: exact
--   bytes_error_percent [percent]: the true inuse_bytes is within this of it in 95 of 100 runs, sampled by size; NULL: exact, or not known
--   live_percent [percent]: inuse_bytes of all live bytes of the run, a whole number; NULL: none are live
--   alloc_percent [percent]: alloc_count of all blocks of the run, a whole number
--   mean_bytes [bytes]: mean size of a block
--   average_live_bytes [bytes]: live in the mean over the life of the process, where that is most, as far as windows tell
--   peak_bytes [bytes]: live when the live bytes of its process were highest; NULL: it allocated less than heap_peak_bytes
--   peak_percent [percent]: that, of all live bytes of the process at that moment, a whole number; NULL: peak_bytes is less than heap_peak_bytes
--   lost_count [count]: live blocks that nothing reached at the end, or only lost blocks, in the process that lost most; NULL: not searched (clear profile --leaks)
--   lost_bytes [bytes]: their bytes
--   temporary_count [count]: blocks freed before their thread allocated another one; NULL: fewer than heap_temporary_count were allocated
--   step_count [count]: in the process where most was copied, copies into a block that is larger by less than an eighth; NULL: quadratic_bytes were not allocated
--   step_bytes [bytes]: that these blocks had before
--   resize_growth_bytes [bytes]: by how much realloc and these copies made blocks larger there in all
-- Thresholds: in the view heap_judged; all are rows of the table rules.
-- Severity: that of the advice, but a note where its line is a finding of the view doctor_line with the same code; of growth and peak for the
--   worst site only, of others a note. Of temporary and arena a note where the blocks, at heap_temporary_block_ns (50 ns), are less than
--   heap_temporary_time_percent, heap_arena_time_percent (10 %) of the run's time. Of leak and rc a note if it is small there, or if a worse
--   one was not searched either; critical from leak_critical_bytes (1 MiB) that are leak_critical_percent (10 %) of all live bytes, where it
--   is known to be lost, or in a dump.
-- Known false positives: a program that builds one result and frees it at its end (growth). Tables and caches that a program keeps on purpose;
--   programs that end by _exit or a signal; interpreters that skip their clean-up. Few blocks, and few bytes, are therefore notes.
SELECT
    site.run_id, 'heap' AS section, site.code,
    CASE WHEN (code IN ('temporary', 'arena') OR code = 'leak' AND is_small_leak = 0)
              AND EXISTS (SELECT 1 FROM line_judged AS lines
                          WHERE lines.run_id = site.run_id AND lines.code = site.code AND lines.function = site.function AND lines.file = site.file
                            AND lines.line = site.line) THEN 'note'
         WHEN code = 'temporary' AND is_cheap = 1 OR code = 'peak' AND is_behind = 1 THEN 'note'
         WHEN code = 'arena'
         THEN CASE WHEN alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_count')
                        AND alloc_percent >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_percent')
                        AND (is_recorded = 0 OR is_cheap = 0 AND is_behind = 0) THEN 'warning' ELSE severity END
         WHEN code IN ('leak', 'rc') AND is_small_leak = 1 THEN 'note'
         WHEN (code = 'growth' OR code = 'leak' AND is_recorded = 1 AND lost_count IS NULL)
              AND EXISTS (SELECT 1 FROM site_weight_facts AS heavier
                          JOIN heap_judged AS other ON other.run_id = heavier.run_id AND other.fact_trace_id = heavier.trace_id
                          WHERE heavier.run_id = site.run_id AND heavier.weight >= site.weight
                            AND (heavier.weight > site.weight OR heavier.trace_id < site.trace_id)
                            AND other.code = site.code AND (other.code = 'growth' OR other.is_small_leak = 0)) THEN 'note'
         WHEN code NOT IN ('leak', 'rc') OR coalesce(lost_bytes, inuse_bytes) < (SELECT value FROM rules WHERE name = 'leak_critical_bytes')
              OR coalesce(live_percent, 0) < (SELECT value FROM rules WHERE name = 'leak_critical_percent') THEN severity
         WHEN code = 'rc' OR is_recorded = 1 AND lost_count IS NULL THEN 'warning'
         ELSE 'critical' END AS severity,
    CASE WHEN function = '' THEN '(no stack)' ELSE function END AS subject,
    json_object('alloc_count', alloc_count, 'alloc_bytes', alloc_bytes, 'alloc_percent', alloc_percent, 'free_count', free_count,
                'free_bytes', free_bytes, 'inuse_count', inuse_count, 'inuse_bytes', inuse_bytes, 'process_inuse_count', process_inuse_count,
                'grown_count', grown_count, 'growth_bytes', growth_bytes, 'samples', samples, 'error_percent', error_percent,
                'bytes_error_percent', bytes_error_percent, 'live_percent', live_percent, 'mean_bytes', mean_bytes, 'lost_count', lost_count, 'lost_bytes', lost_bytes,
                'temporary_count', temporary_count, 'average_live_bytes', average_live_bytes, 'peak_bytes', peak_bytes, 'peak_percent', peak_percent,
                'step_count', step_count, 'step_bytes', step_bytes, 'resize_growth_bytes', resize_growth_bytes) AS evidence,
    '[' || trace_id || ']' AS trace_ids, advice, trace_id, function, file, line, module, alloc_count, alloc_bytes, free_count, free_bytes, inuse_count,
    inuse_bytes, process_inuse_count, grown_count, growth_bytes, samples, error_percent, bytes_error_percent, live_percent, alloc_percent, mean_bytes, average_live_bytes,
    peak_bytes, peak_percent, lost_count, lost_bytes, temporary_count, step_count, step_bytes, resize_growth_bytes
FROM (SELECT heap_judged.*,
             CASE WHEN EXISTS (SELECT 1 FROM heap_judged AS other
                               WHERE other.run_id = heap_judged.run_id AND other.code = heap_judged.code AND other.fact_trace_id = other.trace_id
                                 AND (other.rank > heap_judged.rank OR other.rank = heap_judged.rank AND other.trace_id < heap_judged.trace_id)) THEN 1
                  ELSE 0 END AS is_behind
      FROM heap_judged) AS site;
