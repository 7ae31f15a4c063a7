-- The projects that are on other servers: name (of an older clear's row the number), address.
SELECT coalesce(projects.name, shards.project::text), shards.address
FROM clear.shards
LEFT JOIN clear.projects USING (project)
ORDER BY 1
