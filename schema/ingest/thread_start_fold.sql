-- Adds the threads of profile :from to those of profile :into.
INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns)
SELECT :into, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns
FROM thread_starts
WHERE profile_id = :from
ON CONFLICT (profile_id, trace_id) DO UPDATE
SET started = started + excluded.started,
    ended = ended + excluded.ended,
    life_ns = life_ns + excluded.life_ns,
    max_life_ns = max(max_life_ns, excluded.max_life_ns),
    short_count = short_count + excluded.short_count,
    short_ns = short_ns + excluded.short_ns;
