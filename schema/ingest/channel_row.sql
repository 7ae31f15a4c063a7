-- One channel of a recorded window, profile :profile.
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
                     push_blocked_ns, pop_blocked_ns)
VALUES (:profile, :object, :channel, :capacity, :pushes, :pops, :push_blocked, :pop_blocked, :max_depth,
        :push_blocked_ns, :pop_blocked_ns);
