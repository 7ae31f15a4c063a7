-- The view cpu_use of a file, written for PostgreSQL; schema/views/cpu_use.sql documents its columns. PostgreSQL takes a condition on run_id
-- through GROUP BY.
CREATE VIEW cpu_use AS
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
FROM (
    SELECT profiles.run_id, profiles.kind, max(profiles.id) AS profile_id, cpu.trace_id, sum(cpu.samples) AS samples, sum(cpu.cpu_ns) AS cpu_ns
    FROM clear_rows.profiles AS profiles
    JOIN clear_rows.cpu AS cpu ON cpu.profile_id = profiles.id AND cpu.run_number = profiles.run_number
    -- Windows of a process are added; an ingested profile has none.
    GROUP BY profiles.run_id, profiles.process_id, profiles.kind, CASE WHEN profiles.process_id IS NULL THEN profiles.id END,
             cpu.trace_id, cpu.label_set_id
) AS used
JOIN leaves ON leaves.trace_id = used.trace_id;
