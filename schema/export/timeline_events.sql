-- The events of a :process, which were stored one after the other: a range of ids is read faster than an index.
SELECT id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late, value, kind = 'flow' AS is_flow,
       kind IN ('spawn', 'fiber', 'finish') AS is_fiber
FROM events NOT INDEXED
WHERE id BETWEEN :first AND :last AND process_id = :process;
