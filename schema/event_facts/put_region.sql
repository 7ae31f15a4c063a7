INSERT INTO region_facts(run_id, object_id, count, time_ns, min_ns, p50_ns, p90_ns, p99_ns, p999_ns, max_ns,
                         process_id, tid, start_ns, trace_id, off_ns, off_trace_id)
VALUES (:run, :object, :count, :time, :min, :p50, :p90, :p99, :p999, :max,
        :process, :tid, :start, :trace, :off, :off_trace)
