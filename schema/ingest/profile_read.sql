-- A profile of a run that comes from a file.
INSERT INTO profiles(run_id, process_id, kind, time_ns, duration_ns, period, period_type, period_unit, sample_types,
                     default_type, comments, drop_frames, keep_frames, doc_url, mappings, dropped, truncated, sample_n)
VALUES (:run, :process, :kind, :time, :duration, :period, :period_type, :period_unit, :types,
        :default_type, :comments, :drop, :keep, :url, :mappings, :dropped, :truncated, :sample_n);
