-- Runs of a store.

-- @newest: The $2 newest runs of project $1; NULL: all.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1
ORDER BY started_ns DESC, run DESC
LIMIT $2::bigint

-- @alike: The runs of project $1 with the command of its newest run.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1
  AND command = (SELECT command FROM clear.runs WHERE project = $1 ORDER BY started_ns DESC, run DESC LIMIT 1)
ORDER BY started_ns DESC, run DESC
LIMIT $2::bigint

-- @with_label: The $2 newest runs of project $1 with label $3; NULL: all.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1 AND label = $3
ORDER BY started_ns DESC, run DESC
LIMIT $2::bigint

-- @with_tag: The $2 newest runs of project $1 with tag $3 = $4; NULL: all.
SELECT runs.run, runs.month, runs.started_ns
FROM clear.tags
JOIN clear.runs ON runs.project = tags.project AND runs.month = tags.month AND runs.run = tags.run
WHERE tags.project = $1 AND tags.key = $3 AND md5(tags.value) = md5($4) AND tags.value = $4
ORDER BY runs.started_ns DESC, runs.run DESC
LIMIT $2::bigint

-- @with_uuid: At most $2 runs of project $1 from uuid $3 to $4.
SELECT run, month, started_ns
FROM clear.runs
WHERE project = $1 AND run BETWEEN $3::uuid AND $4::uuid
ORDER BY run
LIMIT $2::bigint

-- @names: The stacks, label sets and objects of a run ($1: project, $2: month, $3: uuid), in the order in which exports list them.
SELECT traces, label_sets, objects
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3

-- @number: What the views call the run $3 of project $1 and month $2.
SELECT number
FROM clear.run_names
WHERE project = $1 AND month = $2 AND run = $3

-- @pushed: When the runs of project $1 with the months $2 and uuids $3 (arrays, one for one) were pushed, or changed since: uuid,
-- microseconds since the epoch.
SELECT run_names.run, (extract(epoch FROM greatest(run_names.pushed_at, run_names.changed_at)) * 1000000)::bigint
FROM unnest($2::date[], $3::uuid[]) AS wanted(month, run)
JOIN clear.run_names ON run_names.project = $1 AND run_names.month = wanted.month AND run_names.run = wanted.run
