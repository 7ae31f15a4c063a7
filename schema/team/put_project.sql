-- Project $1 has the name $2.
INSERT INTO clear.projects(project, name) VALUES ($1, $2)
ON CONFLICT DO NOTHING
