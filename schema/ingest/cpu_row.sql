-- The CPU time of one stack and label set in a recorded window, profile :profile.
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
VALUES (:profile, :trace, :labels, :samples, :cpu_ns);
