-- The view series_functions of a file, written for PostgreSQL; schema/views/series_functions.sql documents its columns. Of the lists of each run it
-- takes apart those of one figure: the view function_facts would take apart all six.
CREATE VIEW series_functions AS
SELECT runs.id AS run_id, runs.started_ns, CAST('alloc_count' AS TEXT) AS figure, subjects.name AS subject, item.value, CAST('function' AS TEXT) AS scope
FROM clear.function_facts AS row
JOIN clear.run_names AS names USING (project, month, run)
JOIN runs ON runs.id = names.number
CROSS JOIN LATERAL unnest(row.subject_id, row.alloc_count) AS item(subject_id, value)
JOIN subjects ON subjects.id = item.subject_id
WHERE row.project = clear_views.project() AND item.value <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('alloc_bytes' AS TEXT), subjects.name, item.value, CAST('function' AS TEXT)
FROM clear.function_facts AS row
JOIN clear.run_names AS names USING (project, month, run)
JOIN runs ON runs.id = names.number
CROSS JOIN LATERAL unnest(row.subject_id, row.alloc_bytes) AS item(subject_id, value)
JOIN subjects ON subjects.id = item.subject_id
WHERE row.project = clear_views.project() AND item.value <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('inuse_count' AS TEXT), subjects.name, item.value, CAST('function' AS TEXT)
FROM clear.function_facts AS row
JOIN clear.run_names AS names USING (project, month, run)
JOIN runs ON runs.id = names.number
CROSS JOIN LATERAL unnest(row.subject_id, row.inuse_count) AS item(subject_id, value)
JOIN subjects ON subjects.id = item.subject_id
WHERE row.project = clear_views.project() AND item.value <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('inuse_bytes' AS TEXT), subjects.name, item.value, CAST('function' AS TEXT)
FROM clear.function_facts AS row
JOIN clear.run_names AS names USING (project, month, run)
JOIN runs ON runs.id = names.number
CROSS JOIN LATERAL unnest(row.subject_id, row.inuse_bytes) AS item(subject_id, value)
JOIN subjects ON subjects.id = item.subject_id
WHERE row.project = clear_views.project() AND item.value <> 0
UNION ALL
SELECT runs.id, runs.started_ns, CAST('peak_bytes' AS TEXT), subjects.name, item.value, CAST('function' AS TEXT)
FROM clear.function_facts AS row
JOIN clear.run_names AS names USING (project, month, run)
JOIN runs ON runs.id = names.number
CROSS JOIN LATERAL unnest(row.subject_id, row.peak_bytes) AS item(subject_id, value)
JOIN subjects ON subjects.id = item.subject_id
WHERE row.project = clear_views.project() AND item.value <> 0
UNION ALL
SELECT runs.id, runs.started_ns, figure_facts.figure, subjects.name, figure_facts.value, CAST('function' AS TEXT)
FROM runs
JOIN figure_facts ON figure_facts.run_id = runs.id
JOIN subjects ON subjects.id = figure_facts.subject_id
WHERE figure_facts.figure IN ('cpu_ns', 'io_calls', 'io_bytes', 'io_time_ns') AND figure_facts.subject_id <> 0;
