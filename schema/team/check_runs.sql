-- The runs that lack names: project, uuid.
SELECT coalesce(projects.name, wanting.project::text), wanting.run
FROM clear.wanting
LEFT JOIN clear.projects USING (project)
ORDER BY 1, 2
