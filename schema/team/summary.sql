-- The projects of a store: name, runs, the oldest and newest start [ns since epoch].
SELECT
    projects.name,
    count(runs.run),
    min(runs.started_ns),
    max(runs.started_ns)
FROM clear.projects
LEFT JOIN clear.runs USING (project)
GROUP BY projects.project, projects.name
ORDER BY projects.name
