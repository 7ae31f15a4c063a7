CREATE TABLE thread_use_facts (
    -- The threads that one stack of a run started: the rows of `thread_starts` in all its processes and windows summed.
    profile_id  INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    trace_id    INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack that started them
    started     INTEGER NOT NULL, -- [count] as in thread_starts
    ended       INTEGER NOT NULL, -- [count] as in thread_starts
    life_ns     INTEGER NOT NULL, -- [ns] as in thread_starts
    max_life_ns INTEGER NOT NULL, -- [ns] as in thread_starts
    short_count INTEGER NOT NULL, -- [count] as in thread_starts
    short_ns    INTEGER NOT NULL, -- [ns] as in thread_starts
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs thread_starts
INSERT INTO thread_use_facts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns)
SELECT max(profiles.id), trace_id, sum(started), sum(ended), sum(life_ns), max(max_life_ns), sum(short_count), sum(short_ns)
FROM profiles
JOIN thread_starts ON thread_starts.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY trace_id;
