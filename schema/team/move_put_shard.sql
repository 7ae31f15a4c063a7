-- From now on project $1 is on the server at $2, though its runs are here too.
INSERT INTO clear.shards(project, address)
VALUES ($1, $2)
ON CONFLICT (project) DO UPDATE SET address = excluded.address
