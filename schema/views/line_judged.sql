DROP VIEW IF EXISTS line_judged;
CREATE VIEW line_judged AS
-- Question: which lines are worth a warning for what many of their stacks did together?
-- Rows: those of line_facts with a diagnosis; the view doctor_line says which. The view doctor_heap has the stacks of such a line as notes.
-- Columns: those of line_facts, and
--   code [text]: as in doctor
--   severity [text]: of the advice
--   advice [text]: as in doctor
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   mean_bytes [bytes]: mean size of a block
--   alloc_percent [percent]: alloc_count of all blocks of the run, a whole number
--   live_percent [percent]: inuse_bytes of all live bytes of the run, a whole number; NULL: none are live
--   cost_ns [ns]: as in doctor_line
SELECT
    judged.run_id, judged.trace_id, stacks, alloc_count, alloc_bytes, inuse_bytes, process_inuse_count, temporary_count, temporary_percent, lost_count, lost_bytes,
    stack_alloc_count, stack_temporary, stack_lost_bytes, stack_lost_count, substr(advice.code, 6) AS code, advice.severity, advice.text AS advice,
    places.function, places.file, places.line, places.module, mean_bytes, alloc_percent, live_percent,
    CAST(CASE advice.code WHEN 'line-temporary' THEN temporary_count WHEN 'line-arena' THEN alloc_count END * block_ns AS BIGINT) AS cost_ns
FROM (SELECT line_facts.*, is_searched, round(1.0 * line_facts.alloc_bytes / line_facts.alloc_count, 1) AS mean_bytes,
             CAST(round(100.0 * line_facts.alloc_count / nullif(heap_facts.alloc_count, 0)) AS BIGINT) AS alloc_percent,
             CAST(round(100.0 * line_facts.inuse_bytes / nullif(heap_facts.inuse_bytes, 0)) AS BIGINT) AS live_percent,
             (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns') AS block_ns,
             CASE WHEN cpu_ns < duration_ns / 10.0 THEN duration_ns / 10.0 WHEN cpu_ns < duration_ns THEN cpu_ns ELSE duration_ns END AS time_ns
      FROM line_facts
      JOIN heap_facts ON heap_facts.run_id = line_facts.run_id
      JOIN run_facts ON run_facts.run_id = line_facts.run_id) AS judged
JOIN advice
    ON advice.code
       = CASE WHEN temporary_count >= (SELECT value FROM rules WHERE name = 'heap_temporary_count')
                   AND temporary_percent >= (SELECT value FROM rules WHERE name = 'heap_temporary_percent')
                   AND 100.0 * temporary_count * block_ns >= (SELECT value FROM rules WHERE name = 'heap_temporary_time_percent') * time_ns
                   AND (2 * stack_temporary < temporary_count
                        OR stack_temporary < (SELECT value FROM rules WHERE name = 'heap_temporary_count')
                        OR 100.0 * stack_temporary * block_ns < (SELECT value FROM rules WHERE name = 'heap_temporary_time_percent') * time_ns)
              THEN 'line-temporary'
              WHEN is_searched = 1 AND lost_bytes >= (SELECT value FROM rules WHERE name = 'leak_warning_bytes')
                   AND lost_count >= (SELECT value FROM rules WHERE name = 'leak_lost_count')
                   AND (2 * stack_lost_bytes < lost_bytes
                        OR stack_lost_bytes < (SELECT value FROM rules WHERE name = 'leak_warning_bytes')
                        OR stack_lost_bytes < (SELECT value FROM rules WHERE name = 'leak_critical_bytes')
                           AND stack_lost_count < (SELECT value FROM rules WHERE name = 'leak_lost_count'))
              THEN 'line-leak'
              WHEN process_inuse_count < (SELECT value FROM rules WHERE name = 'leak_warning_count')
                   AND alloc_bytes < alloc_count * (SELECT value FROM rules WHERE name = 'heap_arena_mean_bytes')
                   AND alloc_count >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_count')
                   AND alloc_percent >= (SELECT value FROM rules WHERE name = 'heap_arena_warning_percent')
                   AND 100.0 * alloc_count * block_ns >= (SELECT value FROM rules WHERE name = 'heap_arena_time_percent') * time_ns
                   AND (2 * stack_alloc_count < alloc_count
                        OR 100.0 * stack_alloc_count * block_ns < (SELECT value FROM rules WHERE name = 'heap_arena_time_percent') * time_ns)
              THEN 'line-arena' END
JOIN places ON places.trace_id = judged.trace_id;
