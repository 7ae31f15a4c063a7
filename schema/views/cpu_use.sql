DROP VIEW IF EXISTS cpu_use;
CREATE VIEW cpu_use AS
-- Question: where does the processor time go? One row a profile (process), stack and label set.
-- samples: how often the stack was met. cpu_ns: nanoseconds of processor time that these stand for.
-- function, file, line, module: as in the view places.
SELECT
    profiles.run_id,
    cpu.profile_id,
    cpu.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    cpu.samples,
    cpu.cpu_ns
FROM cpu
JOIN profiles ON profiles.id = cpu.profile_id
JOIN places ON places.trace_id = cpu.trace_id;
