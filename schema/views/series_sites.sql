DROP VIEW IF EXISTS series_sites;
CREATE VIEW series_sites AS
-- Question: what was a figure of one stack in each run?
-- Rows: one per run, figure and signature of a stack that has it; as in the view series_functions
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: as in the view series_functions
--   subject [text]: 'site ', the function, its file, and the signature
--   value [unit of the figure]: the figure, not 0
--   scope [text]: site
SELECT runs.id AS run_id, runs.started_ns, CAST(total.figure AS TEXT) AS figure, CAST('site ' || named.site AS TEXT) AS subject, +part.value AS value, CAST('site' AS TEXT) AS scope
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
                            JOIN traces ON traces.id = sites.trace_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY traces.signature) AS used
                      WHERE value <> 0)) AS part
JOIN place_subjects AS named ON named.trace_id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, CAST(total.figure AS TEXT), CAST('site ' || named.site AS TEXT), +part.value, CAST('site' AS TEXT)
FROM (SELECT 'peak_bytes' AS figure) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(heap_peaks.trace_id) AS id,
                                   sum(peak_bytes) AS value
                            FROM profiles
                            JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
                            JOIN traces ON traces.id = heap_peaks.trace_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY traces.signature) AS used
                      WHERE value <> 0)) AS part
JOIN place_subjects AS named ON named.trace_id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, CAST(total.figure AS TEXT), CAST('site ' || named.site AS TEXT), +part.value, CAST('site' AS TEXT)
FROM (SELECT 'io_calls' AS figure UNION ALL VALUES ('io_bytes'), ('io_time_ns')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(io.trace_id) AS id,
                                   sum(CASE total.figure WHEN 'io_calls' THEN calls
                                                         WHEN 'io_bytes' THEN bytes
                                                         WHEN 'io_time_ns' THEN io.time_ns END) AS value
                            FROM profiles
                            JOIN io ON io.profile_id = profiles.id
                            JOIN traces ON traces.id = io.trace_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY traces.signature) AS used
                      WHERE value <> 0)) AS part
JOIN place_subjects AS named ON named.trace_id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, CAST(total.figure AS TEXT), CAST('site ' || named.site AS TEXT), +part.value, CAST('site' AS TEXT)
FROM (SELECT 'cpu_ns' AS figure) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(cpu.trace_id) AS id,
                                   sum(cpu_ns) AS value
                            FROM profiles
                            JOIN cpu ON cpu.profile_id = profiles.id
                            JOIN traces ON traces.id = cpu.trace_id
                            WHERE profiles.run_id = runs.id AND profiles.kind <> 'recorder'
                            GROUP BY traces.signature) AS used
                      WHERE value <> 0)) AS part
JOIN leaf_subjects AS named ON named.trace_id = part.key;
