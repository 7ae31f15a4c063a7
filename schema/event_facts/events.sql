-- In the order of the index events_thread.
SELECT id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid
FROM events
WHERE process_id = :process
ORDER BY tid, start_ns, id
