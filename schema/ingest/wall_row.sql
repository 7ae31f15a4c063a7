-- Looks at threads with one stack and label set in a recorded window, profile :profile of kind wall or off-cpu.
INSERT INTO samples(profile_id, trace_id, label_set_id, v0, v1)
VALUES (:profile, :trace, :labels, :samples, :wall_ns);
