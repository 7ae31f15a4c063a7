-- The yields, short sleeps and failed tries of one stack in a recorded window, profile :profile.
INSERT INTO spins(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries)
VALUES (:profile, :trace, :yields, :short_sleeps, :sleep, :failed_tries);
