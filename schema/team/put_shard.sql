-- Project $1 is on the server at $2. No row where it has runs here.
INSERT INTO clear.shards(project, address)
SELECT $1, $2
WHERE NOT EXISTS (SELECT 1 FROM clear.runs WHERE project = $1::bigint)
ON CONFLICT (project) DO UPDATE SET address = excluded.address
