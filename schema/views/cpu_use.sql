DROP VIEW IF EXISTS cpu_use;
CREATE VIEW cpu_use AS
-- Question: where does the CPU time go?
-- Rows: one per run, process, stack and label set, over all windows of the recording; of an ingested file one per profile,
--   stack and label set. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   kind [text]: of the profile: cpu; recorder for what the recording itself took inside the program, in the function [clear]
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack
--   function [text]: as in the view leaves
--   file [text]: as in the view leaves
--   line [line]: as in the view leaves
--   module [text]: as in the view leaves
--   samples [count]: CPU samples with this stack
--   cpu_ns [ns]: CPU time that they stand for
SELECT
    profiles.run_id,
    profiles.kind,
    coalesce(cpu.profile_id, used.value ->> 1) AS profile_id,
    leaves.trace_id,
    leaves.function,
    leaves.file,
    leaves.line,
    leaves.module,
    coalesce(cpu.samples, used.value ->> 2) AS samples,
    coalesce(cpu.cpu_ns, used.value ->> 3) AS cpu_ns
FROM window_roles AS profiles
-- The sums of windows come from json_each, as in the view heap. No table has them: in a file of many runs they are most of it.
JOIN json_each(
    CASE profiles.role
        WHEN 'only' THEN '[0]'
        WHEN 'newest' THEN
            (SELECT json_group_array(json_array(trace_id, profile_id, samples, cpu_ns))
             FROM (SELECT cpu.trace_id, max(windows.id) AS profile_id, sum(cpu.samples) AS samples, sum(cpu.cpu_ns) AS cpu_ns
                   FROM profiles AS windows
                   JOIN cpu ON cpu.profile_id = windows.id
                   WHERE windows.process_id = profiles.process_id AND windows.kind = profiles.kind
                     AND windows.run_id = profiles.run_id
                   GROUP BY cpu.trace_id, cpu.label_set_id))
        ELSE '[]'
    END) AS used
LEFT JOIN cpu ON cpu.profile_id = CASE WHEN used.value = 0 THEN profiles.profile_id END
JOIN leaves ON leaves.trace_id = coalesce(cpu.trace_id, used.value ->> 0);
