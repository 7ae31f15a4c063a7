CREATE TABLE io_use_facts (
    -- The calls of one name by one stack, of one process or ingested profile: the rows of `io` in its windows summed.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that called
    call        TEXT NOT NULL, -- [text] as in io
    calls       INTEGER NOT NULL, -- [count] as in io
    bytes       INTEGER NOT NULL, -- [bytes] as in io
    errors      INTEGER NOT NULL, -- [count] as in io
    would_block INTEGER NOT NULL, -- [count] as in io
    small_calls INTEGER NOT NULL, -- [count] as in io
    small_bytes INTEGER NOT NULL, -- [bytes] as in io
    short_calls INTEGER NOT NULL, -- [count] as in io
    time_ns     INTEGER NOT NULL, -- [ns] as in io
    max_time_ns INTEGER NOT NULL, -- [ns] as in io
    timed_calls INTEGER NOT NULL, -- [count] as in io
    PRIMARY KEY (profile_id, trace_id, call)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs io
INSERT INTO io_use_facts(profile_id, trace_id, call, calls, bytes, errors, would_block, small_calls, small_bytes, short_calls, time_ns,
                         max_time_ns, timed_calls)
SELECT max(profiles.id), trace_id, call, sum(calls), sum(bytes), sum(errors), sum(would_block), sum(small_calls), sum(small_bytes),
       sum(short_calls), sum(io.time_ns), max(max_time_ns), sum(timed_calls)
FROM profiles
JOIN io ON io.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY coalesce(profiles.process_id, -profiles.id), profiles.kind, trace_id, call;
