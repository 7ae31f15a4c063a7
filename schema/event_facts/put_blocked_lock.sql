INSERT INTO blocked_lock_facts(run_id, process_id, address, trace_id, object_id, waiter_trace_id, count, time_ns)
VALUES (:run, :process, :address, :trace, :object, :waiter_trace, :count, :time)
