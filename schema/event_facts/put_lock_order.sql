INSERT INTO lock_order_facts(run_id, process_id, address, other_address, object_id, other_id, trace_id, back_trace_id, count, back_count, time_ns)
VALUES (:run, :process, :address, :other_address, :object, :other, :trace, :back_trace, :count, :back_count, :time)
