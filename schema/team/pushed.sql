-- When the runs of project $1 with the months $2 and uuids $3 (arrays, one for one) were pushed, or changed since: uuid, microseconds since the epoch.
SELECT run_names.run, (extract(epoch FROM greatest(run_names.pushed_at, run_names.changed_at)) * 1000000)::bigint
FROM unnest($2::date[], $3::uuid[]) AS wanted(month, run)
JOIN clear.run_names ON run_names.project = $1 AND run_names.month = wanted.month AND run_names.run = wanted.run
