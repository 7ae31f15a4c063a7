-- The run :run was stopped: it says nothing about its commit.
DELETE FROM tags
WHERE run_id = :run AND key IN ('git_commit', 'commit', 'bisect');
