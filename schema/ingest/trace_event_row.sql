-- A slice of a foreign trace: it has no stack and no address.
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, is_late)
VALUES (:process, :tid, :start, :duration, :kind, :object, 0, 0, :late);
