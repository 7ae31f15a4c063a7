-- The statements of ingest/record/recorded_rows.c.

-- @delay: How long the threads of the process had no processor, in window :profile.
INSERT INTO counters(profile_id, name, value, unit) VALUES (:profile, 'process.run_delay_ns', :ns, 'ns');

-- @memory: How much memory the process of window :profile had at its end.
INSERT INTO counters(profile_id, name, value, unit) VALUES (:profile, :name, :bytes, 'bytes');

-- @process_state: What a flush knows of process :process.
UPDATE processes
SET build_id = :build,
    ended_ns = :ended,
    threads_started = :started,
    threads_most = :most,
    thread_ns = :thread_ns
WHERE id = :process;

-- @window: A window of a recording: a row of profiles that gets its rows next.
INSERT INTO profiles(run_id, process_id, kind, time_ns, duration_ns, period, period_type, period_unit, sample_types,
                     default_type, sample_n)
VALUES (:run, :process, :kind, :time, :duration, :period, :type, :unit, :samples, :default, :sample_n);

-- @window_mappings: The mappings that window :profile met first (:mappings, JSON), the executable's own first, and what was lost in the window.
UPDATE profiles
SET mappings = (SELECT json_group_array(value)
                FROM (SELECT met.value
                      FROM json_each(:mappings) AS met
                      LEFT JOIN mappings AS known ON known.id = met.value
                      ORDER BY known.filename IS :executable DESC, met.key)),
    dropped = :dropped,
    truncated = :truncated
WHERE id = :profile;
