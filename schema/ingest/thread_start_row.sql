-- The threads that one stack started, in a recorded window, profile :profile.
INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns)
VALUES (:profile, :trace, :started, :ended, :life, :life_max, :short_count, :short_life);
