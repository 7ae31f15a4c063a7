DROP VIEW IF EXISTS cpu_use;
CREATE VIEW cpu_use AS
-- Question: where does the processor time go? One row a run, process, stack and label set, over all windows of the recording; of
--   an ingested artefact one a profile, stack and label set.
-- samples: how often the stack was met. cpu_ns: nanoseconds of processor time that these stand for.
-- profile_id: the newest profile that has the row. function, file, line, module: as in the view places.
-- WHERE run_id = 3, or = :run, reads that run alone.
SELECT
    used.run_id,
    used.profile_id,
    used.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    used.samples,
    used.cpu_ns
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, cpu.trace_id, sum(cpu.samples) AS samples,
             sum(cpu.cpu_ns) AS cpu_ns
      FROM cpu
      JOIN profiles ON profiles.id = cpu.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, cpu.trace_id,
               cpu.label_set_id) AS used
JOIN places ON places.trace_id = used.trace_id;
