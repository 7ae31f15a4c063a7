-- The runs of project $1, and when they were last changed [us since epoch].
SELECT month, run, (extract(epoch FROM coalesce(changed_at, pushed_at)) * 1000000)::bigint
FROM clear.run_names
WHERE project = $1
ORDER BY month, run
