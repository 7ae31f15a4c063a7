-- Channels of a profile out of memory (schema/bulk.h).
INSERT OR FAIL INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth,
                             push_blocked_ns, pop_blocked_ns)
SELECT c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10
FROM memory_rows;
