-- The statements of ingest/record/collector.c.

-- @start: Run :run began at :started, when its program did.
UPDATE runs SET started_ns = :started WHERE id = :run AND started_ns <> :started;

-- @recorder_counter: A figure about the recording of run :run itself. It stands with the run's first profile; without one it is dropped.
INSERT OR REPLACE INTO counters(profile_id, name, value, unit)
SELECT min(id), :name, :value, :unit
FROM profiles
WHERE run_id = :run
HAVING min(id) IS NOT NULL;

-- @unseen_cpu: CPU time of run :run that no recorder saw, below no function: beside the CPU samples of the program itself (process :pid), else of another
-- process of the run. No row where CPU time was not recorded.
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
SELECT profiles.id, :trace, 0, 0, :ns
FROM profiles
LEFT JOIN processes ON processes.id = profiles.process_id
WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
ORDER BY processes.pid = :pid DESC, profiles.id DESC
LIMIT 1
ON CONFLICT (profile_id, trace_id, label_set_id) DO UPDATE
SET cpu_ns = cpu_ns + excluded.cpu_ns;

-- @thread_delay: How long thread :tid of process :process had no processor, as of now.
INSERT INTO thread_delays(process_id, tid, name, ran_ns, delay_ns)
VALUES (:process, :tid, :name, :ran, :delay)
ON CONFLICT (process_id, tid) DO UPDATE
SET name = excluded.name, ran_ns = excluded.ran_ns, delay_ns = excluded.delay_ns;
