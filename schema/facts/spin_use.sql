CREATE TABLE spin_use_facts (
    -- What one stack of a run called that waits without blocking: the rows of `spins` in all its processes and windows summed.
    profile_id   INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    trace_id     INTEGER NOT NULL REFERENCES traces(id), -- [id] the stack of the caller
    yields       INTEGER NOT NULL, -- [count] as in spins
    short_sleeps INTEGER NOT NULL, -- [count] as in spins
    sleep_ns     INTEGER NOT NULL, -- [ns] as in spins
    failed_tries INTEGER NOT NULL, -- [count] as in spins
    naps         INTEGER NOT NULL, -- [count] as in spins
    nap_ns       INTEGER NOT NULL, -- [ns] as in spins
    PRIMARY KEY (profile_id, trace_id)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs spins
INSERT INTO spin_use_facts(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries, naps, nap_ns)
SELECT max(profiles.id), trace_id, sum(yields), sum(short_sleeps), sum(sleep_ns), sum(failed_tries), sum(naps), sum(nap_ns)
FROM profiles
JOIN spins ON spins.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY trace_id;
