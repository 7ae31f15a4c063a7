DROP VIEW IF EXISTS doctor_line;
CREATE VIEW doctor_line AS
-- Question: which line is worth a warning for what many stacks of it do together?
-- Rows: those of line_judged.
-- Columns: those of doctor, those of line_facts, and
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   mean_bytes [bytes]: mean size of a block
--   alloc_percent [percent]: as in line_judged
--   live_percent [percent]: as in line_judged
--   cost_ns [ns]: of temporary the temporary blocks, of arena all blocks, at heap_temporary_block_ns each; of leak NULL
-- Thresholds (names are rows of the table rules; they are those of the section heap, of all stacks of the line together):
--   temporary: temporary_count >= heap_temporary_count (400,000), temporary_percent >= heap_temporary_percent (50 %), and the cost is
--     heap_temporary_time_percent (10 %) of the run's CPU time (its duration, where that is shorter or the other not known).
--   leak: lost_bytes >= leak_warning_bytes (16 KiB), and lost_count >= leak_lost_count (10), of each stack in the process that lost most.
--   arena: process_inuse_count < leak_warning_count (100), mean_bytes < heap_arena_mean_bytes (16 B), alloc_count >= heap_arena_warning_count (5,000),
--     alloc_percent >= heap_arena_warning_percent (10 %), and the cost is heap_arena_time_percent (10 %) of the same time.
--   None where one stack of the line has half of these blocks (of leak, of the lost bytes) or more, and is worth a warning of that code by itself: then it
--     is a finding of the section heap. Where the line is the finding, its stacks are notes there.
-- Severity: that of the advice. leak is critical where lost_bytes >= leak_critical_bytes (1 MiB) and live_percent >= leak_critical_percent (10 %). arena is
--   a note where another line or stack made more such blocks.
-- Known false positives: a function that only allocates for its callers, and that the table wrappers does not name.
SELECT
    run_id, 'line' AS section, code,
    CASE WHEN code = 'leak' AND lost_bytes >= (SELECT value FROM rules WHERE name = 'leak_critical_bytes')
              AND coalesce(live_percent, 0) >= (SELECT value FROM rules WHERE name = 'leak_critical_percent') THEN 'critical'
         WHEN code = 'arena'
              AND (EXISTS (SELECT 1 FROM heap_judged AS site
                           WHERE site.run_id = found.run_id AND site.code = 'arena' AND site.alloc_count >= found.alloc_count)
                   OR EXISTS (SELECT 1 FROM line_judged AS other
                              WHERE other.run_id = found.run_id AND other.code = 'arena'
                                AND (other.alloc_count > found.alloc_count
                                     OR other.alloc_count = found.alloc_count AND other.trace_id < found.trace_id))) THEN 'note'
         ELSE severity END AS severity,
    CASE WHEN function = '' THEN '(no stack)' ELSE function END AS subject,
    json_object('stacks', stacks, 'alloc_count', alloc_count, 'alloc_bytes', alloc_bytes, 'alloc_percent', alloc_percent,
                'temporary_count', CASE code WHEN 'temporary' THEN temporary_count END, 'inuse_bytes', inuse_bytes, 'live_percent', live_percent,
                'lost_count', CASE code WHEN 'leak' THEN lost_count END, 'lost_bytes', CASE code WHEN 'leak' THEN lost_bytes END,
                'mean_bytes', mean_bytes, 'cost_ns', cost_ns) AS evidence,
    '[' || trace_id || ']' AS trace_ids, advice,
    trace_id, stacks, alloc_count, alloc_bytes, inuse_bytes, process_inuse_count, temporary_count, temporary_percent, lost_count, lost_bytes,
    stack_alloc_count, stack_temporary, stack_lost_bytes, stack_lost_count, function, file, line, module, mean_bytes, alloc_percent, live_percent, cost_ns
FROM line_judged AS found;
