-- Calls of input and output of one stack in a recorded window, profile :profile.
INSERT INTO io(profile_id, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
               max_time_ns, timed_calls)
VALUES (:profile, :trace, :call, :calls, :bytes, :errors, :would_block, :small_calls, :small_bytes, :short_calls, :time,
        :time_max, :timed_calls);
