-- Adds the calls of profile :from to those of profile :into.
INSERT INTO io(profile_id, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
               max_time_ns, timed_calls)
SELECT :into, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
       max_time_ns, timed_calls
FROM io
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id, call) DO UPDATE
SET calls = calls + excluded.calls,
    bytes = bytes + excluded.bytes,
    errors = errors + excluded.errors,
    would_block = would_block + excluded.would_block,
    small_calls = small_calls + excluded.small_calls,
    small_bytes = small_bytes + excluded.small_bytes,
    short_calls = short_calls + excluded.short_calls,
    time_ns = time_ns + excluded.time_ns,
    max_time_ns = max(max_time_ns, excluded.max_time_ns),
    timed_calls = timed_calls + excluded.timed_calls;
