DROP VIEW IF EXISTS series_functions;
CREATE VIEW series_functions AS
-- Question: what was a figure of a function in each run?
-- Rows: one per run, figure and function that has it.
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, io_calls, io_bytes, io_time_ns, cpu_ns
--   subject [text]: 'function ' and the name; of what allocates or reads, as in the view place_subjects; of CPU time, as in leaf_subjects
--   value [unit of the figure]: the figure, not 0
--   scope [text]: function
SELECT runs.id AS run_id, runs.started_ns, CAST('alloc_count' AS TEXT) AS figure, subjects.name AS subject, +alloc_count AS value, CAST('function' AS TEXT) AS scope
FROM runs
CROSS JOIN function_facts
JOIN subjects ON subjects.id = function_facts.subject_id
WHERE function_facts.run_id = runs.id AND alloc_count <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('alloc_bytes' AS TEXT), subjects.name, +alloc_bytes, CAST('function' AS TEXT)
FROM runs
CROSS JOIN function_facts
JOIN subjects ON subjects.id = function_facts.subject_id
WHERE function_facts.run_id = runs.id AND alloc_bytes <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('inuse_count' AS TEXT), subjects.name, +inuse_count, CAST('function' AS TEXT)
FROM runs
CROSS JOIN function_facts
JOIN subjects ON subjects.id = function_facts.subject_id
WHERE function_facts.run_id = runs.id AND inuse_count <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('inuse_bytes' AS TEXT), subjects.name, +inuse_bytes, CAST('function' AS TEXT)
FROM runs
CROSS JOIN function_facts
JOIN subjects ON subjects.id = function_facts.subject_id
WHERE function_facts.run_id = runs.id AND inuse_bytes <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('peak_bytes' AS TEXT), subjects.name, +peak_bytes, CAST('function' AS TEXT)
FROM runs
CROSS JOIN function_facts
JOIN subjects ON subjects.id = function_facts.subject_id
WHERE function_facts.run_id = runs.id AND peak_bytes <> 0
UNION ALL
SELECT runs.id, runs.started_ns, figure_facts.figure, subjects.name, +figure_facts.value, CAST('function' AS TEXT)
FROM runs
CROSS JOIN figure_facts
JOIN subjects ON subjects.id = figure_facts.subject_id
WHERE figure_facts.run_id = runs.id AND figure_facts.figure IN ('cpu_ns', 'io_calls', 'io_bytes', 'io_time_ns') AND figure_facts.subject_id <> 0;
