-- An event of a thread. :epoch is its start as ns since 1970; the clocks of the run and of the process may differ by less than a
-- microsecond, so an event at the very start may seem to lie before it.
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late, value)
VALUES (:process, :tid, max(0, :epoch - (SELECT started_ns FROM runs WHERE id = :run)), :duration, :kind, :object, :address, :trace,
        :owner, :late, :value);
