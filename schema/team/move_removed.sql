-- What was removed from the other store while it was copied here goes here too.
SELECT clear.remove_run(run_names.project, run_names.month, run_names.run)
FROM clear.run_names
JOIN clear.removed USING (project, run)
WHERE project = $1
