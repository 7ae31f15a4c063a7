-- The events of a :process, which were stored one after the other: a range of ids is read faster than an index.
SELECT id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late, iif(kind = 'flow', value, NULL) AS flow
FROM events NOT INDEXED
WHERE id BETWEEN :first AND :last AND process_id = :process;
