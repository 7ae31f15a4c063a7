-- A new run: $1 project, $2 month, $3 uuid, $4 stacks, $5 label sets, $6 objects. No row where it is there.
INSERT INTO clear.run_names(project, month, run, traces, label_sets, objects)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
