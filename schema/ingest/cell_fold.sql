-- Adds the cells of profile :from to those of profile :into.
INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures)
SELECT :into, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures
FROM cells
WHERE profile_id = :from
ON CONFLICT (profile_id, object_id, address, trace_id) DO UPDATE
SET struct_size = max(struct_size, excluded.struct_size),
    reads = reads + excluded.reads,
    commits = commits + excluded.commits,
    multi_commits = multi_commits + excluded.multi_commits,
    retries = retries + excluded.retries,
    update_failures = update_failures + excluded.update_failures;
