-- Adds the channels of profile :from to those of profile :into.
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
                     push_blocked_ns, pop_blocked_ns)
SELECT :into, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
       push_blocked_ns, pop_blocked_ns
FROM channels
WHERE profile_id = :from
ON CONFLICT (profile_id, object_id, channel) DO UPDATE
SET capacity = max(capacity, excluded.capacity),
    pushes = pushes + excluded.pushes,
    pops = pops + excluded.pops,
    push_blocked = push_blocked + excluded.push_blocked,
    pop_blocked = pop_blocked + excluded.pop_blocked,
    max_depth = max(max_depth, excluded.max_depth),
    push_blocked_ns = push_blocked_ns + excluded.push_blocked_ns,
    pop_blocked_ns = pop_blocked_ns + excluded.pop_blocked_ns;
