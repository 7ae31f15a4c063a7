-- One cell of a recorded window, profile :profile.
INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures)
VALUES (:profile, :object, :address, :trace, :struct_size, :reads, :commits, :multi_commits, :retries, :update_failures);
