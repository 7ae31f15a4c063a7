CREATE TABLE run_facts (
    -- What the findings of a run are measured against.
    run_id      INTEGER PRIMARY KEY REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    is_recorded INTEGER NOT NULL, -- [0 or 1] 1: of a recorded run; 0: of an ingested file
    duration_ns INTEGER NOT NULL, -- [ns] from the start of the program to its end; 0: not known
    thread_ns   INTEGER,          -- [ns] sum of the lives of all threads; NULL: not known (an ingested file)
    lock_ns     INTEGER, -- [ns] thread_ns without what threads waited for that is no lock (condition variables, the end of threads, ...): the time in
                         -- which they could wait for a lock. NULL: thread_ns is
    cpu_ns      INTEGER, -- [ns] CPU time that was sampled; NULL: it was not
    cpu_independent INTEGER, -- [count] how many independent samples that is as exact as: a timer counts all its periods since its last expiry, which are of
                             -- one moment. NULL: there are none, or the recorder did not say
    processors  INTEGER, -- [count] processors that the program might use; NULL: not known
    run_delay_ns INTEGER, -- [ns] that its threads were ready to run and had no processor, at least; NULL: not known
    window_from_ns  INTEGER, -- [ns] from the start of the run to the window in which its threads had none for longest; NULL: not known, and the next two
    window_ns       INTEGER, -- [ns] the length of that window
    window_delay_ns INTEGER, -- [ns] run_delay_ns of that window
    process_peak_bytes INTEGER, -- [bytes] most live bytes at once, in the process that had most; NULL: not recorded
    exit_status INTEGER, -- [number] as in runs
    exit_signal INTEGER  -- [number] as in runs
) STRICT;

-- Fill
INSERT INTO run_facts(run_id, is_recorded, duration_ns, thread_ns, lock_ns, cpu_ns, cpu_independent, processors, run_delay_ns, window_from_ns, window_ns,
                      window_delay_ns, process_peak_bytes, exit_status,
                      exit_signal)
SELECT
    id, source = 'profile', duration_ns, thread_ns,
    thread_ns - coalesce((SELECT sum(used.wait_ns)
                          FROM profiles
                          JOIN wait_use_facts AS used ON used.profile_id = profiles.id
                          WHERE profiles.run_id = :run), 0),
    (SELECT sum(cpu.cpu_ns)
     FROM profiles
     JOIN cpu ON cpu.profile_id = profiles.id
     WHERE profiles.run_id = :run AND profiles.kind = 'cpu'),
    -- 0: each sample is of a moment of its own, as those of perf are. So are those of other tools, as far as their files tell.
    (SELECT CAST(round(min(sampled.samples, CASE WHEN source <> 'profile' OR independent = 0 THEN sampled.samples ELSE independent END)) AS INTEGER)
     FROM (SELECT sum(cpu.samples) AS samples
           FROM profiles
           JOIN cpu ON cpu.profile_id = profiles.id
           WHERE profiles.run_id = :run AND profiles.kind = 'cpu') AS sampled,
          (SELECT max(counters.value) AS independent
           FROM profiles
           JOIN counters ON counters.profile_id = profiles.id
           WHERE profiles.run_id = :run AND counters.name = 'recorder.cpu_effective_samples') AS said),
    (SELECT CAST(max(counters.value) AS INTEGER)
     FROM profiles
     JOIN counters ON counters.profile_id = profiles.id
     WHERE profiles.run_id = :run AND counters.name = 'recorder.processors'),
    (SELECT CAST(1e6 * sum(counters.value) AS INTEGER)
     FROM profiles
     JOIN counters ON counters.profile_id = profiles.id
     WHERE profiles.run_id = :run AND counters.name = 'recorder.run_delay_ms'),
    max(0, window_end_ns - window_duration_ns - started_ns), window_duration_ns, worst.ns,
    (SELECT max(peak_bytes)
     FROM (SELECT sum(peak_bytes) AS peak_bytes
           FROM profiles
           JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
           WHERE profiles.run_id = :run AND profiles.kind = 'heap-peak'
           GROUP BY profiles.id) AS processes),
    exit_status, exit_signal
FROM (SELECT runs.*, (SELECT sum(thread_ns) FROM processes WHERE processes.run_id = runs.id) AS thread_ns
      FROM runs
      WHERE id = :run) AS whole
LEFT JOIN (SELECT time_ns AS window_end_ns, max(profiles.duration_ns) AS window_duration_ns, CAST(sum(counters.value) AS INTEGER) AS ns
           FROM profiles
           CROSS JOIN counters ON counters.profile_id = profiles.id AND counters.name = 'process.run_delay_ns'
           WHERE profiles.run_id = :run
           GROUP BY time_ns
           ORDER BY ns DESC
           LIMIT 1) AS worst ON 1;
