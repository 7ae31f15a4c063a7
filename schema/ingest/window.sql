-- A window of a recording: a row of profiles that gets its rows next.
INSERT INTO profiles(run_id, process_id, kind, time_ns, duration_ns, period, period_type, period_unit, sample_types,
                     default_type, sample_n)
VALUES (:run, :process, :kind, :time, :duration, :period, :type, :unit, :samples, :default, :sample_n);
