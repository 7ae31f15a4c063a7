DROP VIEW IF EXISTS series_functions;
CREATE VIEW series_functions AS
-- Question: what was a figure of a function in each run?
-- Rows: one per run, figure and function that has it. The sums of a run are put into one JSON object, {trace id: sum}, because a condition of any form on run_id
--   then reaches the rows of that run alone; it does not reach into GROUP BY.
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, io_calls, io_bytes, io_time_ns, cpu_ns
--   subject [text]: 'function ' and the name; of what allocates or reads, as in the view place_subjects; of CPU time, as in leaf_subjects
--   value [unit of the figure]: the figure, not 0
--   scope [text]: function
SELECT runs.id AS run_id, runs.started_ns, total.figure, 'function ' || named.function AS subject, +part.value AS value, 'function' AS scope
FROM (SELECT 'alloc_count' AS figure UNION ALL VALUES ('alloc_bytes'), ('inuse_count'), ('inuse_bytes')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(sites.trace_id) AS id,
                                   sum(CASE total.figure WHEN 'alloc_count' THEN alloc_count
                                                         WHEN 'alloc_bytes' THEN alloc_bytes
                                                         WHEN 'inuse_count' THEN alloc_count - free_count
                                                         WHEN 'inuse_bytes' THEN alloc_bytes - free_bytes END) AS value
                            FROM profiles
                            JOIN sites ON sites.profile_id = profiles.id
                            JOIN place_subjects ON place_subjects.trace_id = sites.trace_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY place_subjects.function) AS used
                      WHERE value <> 0)) AS part
JOIN place_subjects AS named ON named.trace_id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, 'function ' || named.function, +part.value, 'function'
FROM (SELECT 'peak_bytes' AS figure) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(heap_peaks.trace_id) AS id,
                                   sum(peak_bytes) AS value
                            FROM profiles
                            JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
                            JOIN place_subjects ON place_subjects.trace_id = heap_peaks.trace_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY place_subjects.function) AS used
                      WHERE value <> 0)) AS part
JOIN place_subjects AS named ON named.trace_id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, 'function ' || named.function, +part.value, 'function'
FROM (SELECT 'io_calls' AS figure UNION ALL VALUES ('io_bytes'), ('io_time_ns')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(io.trace_id) AS id,
                                   sum(CASE total.figure WHEN 'io_calls' THEN calls
                                                         WHEN 'io_bytes' THEN bytes
                                                         WHEN 'io_time_ns' THEN io.time_ns END) AS value
                            FROM profiles
                            JOIN io ON io.profile_id = profiles.id
                            JOIN place_subjects ON place_subjects.trace_id = io.trace_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY place_subjects.function) AS used
                      WHERE value <> 0)) AS part
JOIN place_subjects AS named ON named.trace_id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, 'function ' || named.function, +part.value, 'function'
FROM (SELECT 'cpu_ns' AS figure) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(cpu.trace_id) AS id,
                                   sum(cpu_ns) AS value
                            FROM profiles
                            JOIN cpu ON cpu.profile_id = profiles.id
                            JOIN leaf_subjects ON leaf_subjects.trace_id = cpu.trace_id
                            WHERE profiles.run_id = runs.id AND profiles.kind <> 'recorder'
                            GROUP BY leaf_subjects.function) AS used
                      WHERE value <> 0)) AS part
JOIN leaf_subjects AS named ON named.trace_id = part.key;
