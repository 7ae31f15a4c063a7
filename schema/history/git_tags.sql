-- Which commit a run is of.
SELECT key, value
FROM tags
WHERE run_id = :run AND key IN ('git_commit', 'git_branch')
