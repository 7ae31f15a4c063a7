-- The CPU samples of one stack in a recorded window, profile :profile.
INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns)
VALUES (:profile, :trace, :samples, :cpu_ns);
