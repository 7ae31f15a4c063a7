-- Of run :run the line whose loops store to one place and that took most CPU time there: function, file, line, the time, how many threads had a tenth of it or
-- more, and whether the run has hardware events of cache lines.
WITH
stored AS (
    SELECT location_lines.function_id, location_lines.line, profiles.process_id, cpu.label_set_id, sum(cpu.cpu_ns) AS cpu_ns
    FROM main.profiles
    JOIN spin_loops ON spin_loops.process_id = profiles.process_id AND spin_loops.stores
    JOIN cpu ON cpu.profile_id = profiles.id
    JOIN traces ON traces.id = cpu.trace_id AND CAST(substr(traces.stack, 2) AS INTEGER) = spin_loops.location_id
    JOIN location_lines ON location_lines.location_id = spin_loops.location_id AND location_lines.position = 0
    WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
    GROUP BY 1, 2, 3, 4
),
lines AS (
    SELECT function_id, line, sum(cpu_ns) AS cpu_ns FROM stored GROUP BY function_id, line ORDER BY cpu_ns DESC LIMIT 1
)
SELECT functions.name, functions.filename, lines.line, lines.cpu_ns,
       (SELECT count(*)
        FROM stored
        WHERE stored.function_id = lines.function_id AND stored.line = lines.line AND 10 * stored.cpu_ns >= lines.cpu_ns) AS threads,
       EXISTS (SELECT 1 FROM main.profiles WHERE run_id = :run AND kind = 'c2c') AS has_lines
FROM lines
JOIN functions ON functions.id = lines.function_id
