-- The stacks, label sets and objects of a run ($1: project, $2: month, $3: uuid), in the order in which exports list them.
SELECT
    traces,
    label_sets,
    objects
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3
