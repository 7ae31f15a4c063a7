-- The statements of query/doctor/head.c.

-- @peak: The peak of run :run, for the first lines of a doctor's report: the process that had most live, with the place that had most of it;
-- and how much all processes together had live at one known moment, NULL for a run of one process, and where that is several runs (:is_together).
WITH peak AS (
    SELECT peak_count, peak_bytes, at_ns, pid, profile_id, process_id
    FROM peaks
    WHERE run_id = :run
    UNION ALL
    SELECT sum(peak_count), sum(peak_bytes), profiles.duration_ns, NULL, profiles.id, NULL -- of a directory
    FROM profiles
    JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = 'heap-peak' AND profiles.process_id IS NULL
    GROUP BY profiles.id, profiles.duration_ns
    ORDER BY peak_bytes DESC, process_id
    LIMIT 1),
place AS (
    SELECT places.function, places.file, places.line, sum(heap_peaks.peak_bytes) AS bytes
    FROM heap_peaks
    JOIN places ON places.trace_id = heap_peaks.trace_id
    WHERE heap_peaks.profile_id = (SELECT profile_id FROM peak)
    GROUP BY places.function, places.file, places.line
    ORDER BY bytes DESC, places.function
    LIMIT 1)
SELECT
    peak.peak_count,
    peak.peak_bytes,
    coalesce(min(peak.at_ns, iif(own.duration_ns > 0, own.duration_ns, peak.at_ns)), peak.at_ns) AS at_ns,
    peak.pid,
    CASE WHEN NOT :is_together AND (SELECT count(*) FROM peaks WHERE run_id = :run) > 1
         THEN (SELECT max(run_bytes) FROM memory WHERE run_id = :run) END AS together_bytes,
    place.function,
    place.file,
    place.line,
    CAST(round(100.0 * place.bytes / peak.peak_bytes) AS INTEGER) AS percent,
    own.id AS own_run_id
FROM peak
JOIN place
LEFT JOIN main.processes AS process ON process.id = peak.process_id
LEFT JOIN main.runs AS own ON own.id = process.run_id
WHERE peak.peak_bytes > 0;

-- @processors: How long threads of run :run were ready and had no processor, how many threads were ready or ran in the mean, and how many
-- processors there were; a row only where that is much.
SELECT run_delay_ns, ready_threads, processors
FROM doctor_processors
WHERE run_id = :run;

-- @throttled: How many processors the control group of run :run might use, and for how many nanoseconds its threads were stopped because of that, the sum
-- of all processors; a row only where that is as long as what makes a row of doctor_processors.
SELECT share.value, throttled.value * 1e6
FROM counters AS throttled
JOIN counters AS share ON share.profile_id = throttled.profile_id AND share.name = 'recorder.group_processors'
WHERE throttled.profile_id = (SELECT min(id) FROM profiles WHERE run_id = :run)
  AND throttled.name = 'recorder.throttled_ms'
  AND throttled.value * 1e6 >= (SELECT value FROM rules WHERE name = 'processors_delay_ns');

-- @attached: For how many nanoseconds the program of run :run ran before it was recorded, the bytes it had allocated then (NULL: unknown), and
-- whether its allocator says so (0: it is all of its own memory); no row where it was started for that.
SELECT attached.count * 1000000, before.count, before.subject = 'heap'
FROM loss_facts AS attached
LEFT JOIN loss_facts AS before ON before.run_id = attached.run_id AND before.code = 'before'
WHERE attached.run_id = :run AND attached.code = 'attached';

-- @run: The run :run, for the first lines of a doctor's report.
SELECT
    run_id,
    coalesce(label, '') AS label,
    iif(command = '', source, command) AS command,
    started_ns,
    duration_ns,
    exit,
    processes,
    alloc_count,
    alloc_bytes,
    inuse_count,
    inuse_bytes,
    lock_acquires,
    lock_contended,
    lock_wait_ns,
    cpu_ns,
    sample_n,
    sample_bytes,
    recorder_cpu_ns
FROM run_summary
WHERE run_id = :run

-- @budget: Of the run :run, recorded with --budget: per cent that was asked for and that it is estimated to have taken, when allocations were sampled first,
-- in ms (NULL: the recorder did not say), and the shortest and longest period of windows that are sampled; the same of locks, their holds in ns and
-- the variance of that; for how long threads were ready and had no processor. No row of others.
SELECT
    max(value) FILTER (WHERE name = 'recorder.budget_percent') AS percent,
    max(value) FILTER (WHERE name = 'recorder.budget_cost_percent') AS cost_percent,
    max(value) FILTER (WHERE name = 'recorder.budget_exact_ms') AS exact_ms,
    (SELECT min(period) FROM profiles WHERE run_id = :run AND kind = 'heap' AND period_type = 'space' AND sample_n <= 1 AND period > 1) AS least,
    (SELECT max(period) FROM profiles WHERE run_id = :run AND kind = 'heap' AND period_type = 'space' AND sample_n <= 1 AND period > 1) AS most,
    max(value) FILTER (WHERE name = 'recorder.budget_locks_exact_ms') AS locks_exact_ms,
    (SELECT min(period) FROM profiles WHERE run_id = :run AND kind = 'lock' AND sample_n <= 1 AND period > 1) AS locks_least,
    (SELECT max(period) FROM profiles WHERE run_id = :run AND kind = 'lock' AND sample_n <= 1 AND period > 1) AS locks_most,
    (SELECT sum(hold_ns) FROM profiles JOIN locks ON locks.profile_id = profiles.id WHERE run_id = :run AND profiles.kind = 'lock') AS hold_ns,
    (SELECT max(value) FROM counters JOIN profiles ON profiles.id = profile_id
     WHERE run_id = :run AND name = 'recorder.hold_variance') AS hold_variance,
    max(value) FILTER (WHERE name = 'recorder.budget_acquires') AS acquires,
    (SELECT run_delay_ns FROM run_facts WHERE run_id = :run) AS run_delay_ns
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND name LIKE 'recorder.budget@_%' ESCAPE '@'
HAVING percent IS NOT NULL
