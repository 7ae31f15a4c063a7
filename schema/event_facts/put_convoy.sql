INSERT INTO convoy_facts(run_id, process_id, address, object_id, trace_id, count, time_ns, most_waiters)
VALUES (:run, :process, :address, :object, :trace, :count, :time, :most)
