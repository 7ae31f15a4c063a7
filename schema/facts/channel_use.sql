CREATE TABLE channel_use_facts (
    -- One channel of one process or ingested profile: the rows of `channels` in its windows summed.
    profile_id      INTEGER NOT NULL REFERENCES profiles(id) ON DELETE CASCADE, -- [id] the newest profile of them that has the row
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the channel
    channel         INTEGER NOT NULL, -- [number] its number in the process
    capacity        INTEGER NOT NULL, -- [count] as in channels; the largest seen
    pushes          INTEGER NOT NULL, -- [count] as in channels
    pops            INTEGER NOT NULL, -- [count] as in channels
    push_blocked    INTEGER NOT NULL, -- [count] as in channels
    pop_blocked     INTEGER NOT NULL, -- [count] as in channels
    max_depth       INTEGER NOT NULL, -- [count] as in channels
    push_blocked_ns INTEGER NOT NULL, -- [ns] as in channels
    pop_blocked_ns  INTEGER NOT NULL, -- [ns] as in channels
    PRIMARY KEY (profile_id, object_id, channel)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs channels
INSERT INTO channel_use_facts(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns,
                              pop_blocked_ns)
SELECT max(profiles.id), object_id, channel, max(capacity), sum(pushes), sum(pops), sum(push_blocked), sum(pop_blocked), max(max_depth),
       sum(push_blocked_ns), sum(pop_blocked_ns)
FROM profiles
JOIN channels ON channels.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY coalesce(profiles.process_id, -profiles.id), profiles.kind, object_id, channel;
