DROP VIEW IF EXISTS cpu_use;
CREATE VIEW cpu_use AS
-- Question: where does the CPU time go?
-- Rows: one per run, process, stack and label set, over all windows of the recording; of an ingested file one per profile, stack
--   and label set. A condition WHERE run_id = 3, or = :run, reads that run only.
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
    used.run_id,
    used.kind,
    used.profile_id,
    used.trace_id,
    leaves.function,
    leaves.file,
    leaves.line,
    leaves.module,
    used.samples,
    used.cpu_ns
FROM (SELECT profiles.run_id, profiles.kind, max(profiles.id) AS profile_id, cpu.trace_id, sum(cpu.samples) AS samples,
             sum(cpu.cpu_ns) AS cpu_ns
      FROM cpu
      JOIN profiles ON profiles.id = cpu.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, cpu.trace_id,
               cpu.label_set_id) AS used
JOIN leaves ON leaves.trace_id = used.trace_id;
