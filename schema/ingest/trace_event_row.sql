-- A slice of a foreign trace. Only Go's have stacks, addresses and owners.
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late, value)
VALUES (:process, :tid, :start, :duration, :kind, :object, :address, :stack, :owner, :late, :value);
