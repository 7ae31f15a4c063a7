CREATE TABLE channel_facts (
    -- One channel of a run: the windows of its processes summed, of depth and capacity the greatest. A channel with a name is the same one in
    -- all processes.
    run_id          INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    object_id       INTEGER NOT NULL REFERENCES objects(id), -- [id] the channel
    channel         INTEGER NOT NULL, -- [number] its number in the process; 0 for a channel with a name
    capacity        INTEGER NOT NULL, -- [count] messages that fit in; 0: no limit, or unknown
    max_depth       INTEGER NOT NULL, -- [count] the most messages in it at one time
    depth_percent   INTEGER,          -- [percent] max_depth of capacity, a whole number; NULL: no capacity is known
    pushes          INTEGER NOT NULL, -- [count] messages sent
    push_blocked    INTEGER NOT NULL, -- [count] pushes that had to wait
    push_blocked_percent INTEGER NOT NULL, -- [percent] that, of pushes, a whole number
    push_blocked_ns INTEGER NOT NULL, -- [ns] sum of the waits of pushes; 0 in dumps, which have no times
    pops            INTEGER NOT NULL, -- [count] messages received
    pop_blocked     INTEGER NOT NULL, -- [count] pops that had to wait
    pop_blocked_percent INTEGER NOT NULL, -- [percent] that, of pops, a whole number
    pop_blocked_ns  INTEGER NOT NULL, -- [ns] sum of the waits of pops; 0 in dumps, which have no times
    PRIMARY KEY (run_id, object_id, channel)
) STRICT, WITHOUT ROWID;

-- Fill
-- Needs channel_use_facts
INSERT INTO channel_facts(run_id, object_id, channel, capacity, max_depth, depth_percent, pushes, push_blocked, push_blocked_percent,
                          push_blocked_ns, pops, pop_blocked, pop_blocked_percent, pop_blocked_ns)
SELECT
    :run, object_id, number, capacity, max_depth, CAST(round(100.0 * max_depth / nullif(capacity, 0)) AS INTEGER),
    pushes, push_blocked, coalesce(CAST(round(100.0 * push_blocked / nullif(pushes, 0)) AS INTEGER), 0), push_blocked_ns,
    pops, pop_blocked, coalesce(CAST(round(100.0 * pop_blocked / nullif(pops, 0)) AS INTEGER), 0), pop_blocked_ns
FROM (SELECT
          used.object_id, iif(objects.identity GLOB 'name:*', 0, used.channel) AS number,
          max(capacity) AS capacity, max(max_depth) AS max_depth, sum(pushes) AS pushes, sum(push_blocked) AS push_blocked,
          sum(push_blocked_ns) AS push_blocked_ns, sum(pops) AS pops, sum(pop_blocked) AS pop_blocked, sum(pop_blocked_ns) AS pop_blocked_ns
      FROM profiles
      JOIN channel_use_facts AS used ON used.profile_id = profiles.id
      JOIN objects ON objects.id = used.object_id
      WHERE profiles.run_id = :run
      GROUP BY used.object_id, number);
