DROP VIEW IF EXISTS doctor_line;
CREATE VIEW doctor_line AS
-- Question: which line makes blocks that are freed at once, by many stacks of which none is worth a warning by itself?
-- Rows: one per row of line_facts with a finding.
-- Columns: those of doctor, those of line_facts, and
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   mean_bytes [bytes]: mean size of a block
--   cost_ns [ns]: of the temporary blocks, at heap_temporary_block_ns each
-- Thresholds (names are rows of the table rules; they are those of the section heap, of all stacks of the line together):
--   temporary: temporary_count >= heap_temporary_count (400,000), temporary_percent >= heap_temporary_percent (50 %), and the cost is
--     heap_temporary_time_percent (10 %) of the run's CPU time (its duration, where that is shorter or the other not known); that of most_of_a_stack is not,
--     or is less than heap_temporary_count: else the stack is a finding of the section heap.
-- Severity: that of the advice.
-- Known false positives: a function that only allocates for its callers, and that the table wrappers does not name.
SELECT
    found.run_id, 'line' AS section, 'temporary' AS code, advice.severity, CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('stacks', stacks, 'alloc_count', alloc_count, 'alloc_bytes', alloc_bytes, 'temporary_count', temporary_count, 'mean_bytes', mean_bytes,
                'cost_ns', cost_ns) AS evidence,
    '[' || found.trace_id || ']' AS trace_ids, advice.text AS advice,
    found.trace_id, stacks, alloc_count, alloc_bytes, temporary_count, temporary_percent, most_of_a_stack, places.function, places.file, places.line,
    places.module, mean_bytes, cost_ns
FROM (SELECT line_facts.*, round(1.0 * alloc_bytes / nullif(alloc_count, 0), 1) AS mean_bytes,
             CAST(temporary_count * (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns') AS BIGINT) AS cost_ns,
             CAST(most_of_a_stack * (SELECT value FROM rules WHERE name = 'heap_temporary_block_ns') AS BIGINT) AS stack_ns,
             CASE WHEN cpu_ns < duration_ns / 10.0 THEN duration_ns / 10.0 WHEN cpu_ns < duration_ns THEN cpu_ns ELSE duration_ns END AS time_ns
      FROM line_facts
      JOIN run_facts ON run_facts.run_id = line_facts.run_id) AS found
JOIN advice ON advice.code = 'line-temporary'
JOIN places ON places.trace_id = found.trace_id
WHERE temporary_count >= (SELECT value FROM rules WHERE name = 'heap_temporary_count')
  AND temporary_percent >= (SELECT value FROM rules WHERE name = 'heap_temporary_percent')
  AND 100.0 * cost_ns >= (SELECT value FROM rules WHERE name = 'heap_temporary_time_percent') * time_ns
  AND (most_of_a_stack < (SELECT value FROM rules WHERE name = 'heap_temporary_count')
       OR 100.0 * stack_ns < (SELECT value FROM rules WHERE name = 'heap_temporary_time_percent') * time_ns);
