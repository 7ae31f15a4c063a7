DROP VIEW IF EXISTS doctor_processors;
CREATE VIEW doctor_processors AS
-- Question: did threads wait for a processor rather than for each other?
-- Rows: one per run whose threads did.
-- Columns: those of doctor, and
--   run_delay_ns [ns]: that threads were ready to run and had no processor, at least
--   cpu_ns [ns]: CPU time that was sampled; NULL: it was not
--   delay_percent [percent]: run_delay_ns of run_delay_ns and cpu_ns, a whole number; where cpu_ns is NULL, of run_delay_ns and the run's duration
--   ready_threads [count]: that ran or were ready to run, in the mean of the run; NULL: cpu_ns is
--   processors [count]: that the program might use; NULL: not known
--   lock_delay_ns [ns]: of the waits for locks, those for a thread without a processor: lock_facts.wait_delay_ns of all locks; NULL: none is known
--   thread [text]: the name of the thread that had none for longest; NULL: none is known
--   thread_delay_ns [ns]: for how long that was
--   window_from_ns [ns]: from the start of the run to the window in which threads had none for longest; NULL: none is known
--   window_ns [ns]: length of that window
--   window_delay_ns [ns]: for how long that was, together
-- Thresholds (names are rows of the table rules):
--   crowded: run_delay_ns >= processors_delay_ns (100 ms) and delay_percent >= processors_delay_percent (20 %).
-- Severity: that of the advice.
-- Measured: of 763 holds of a lock that took over 0.2 ms on two busy processors, 756 had lost the processor. Eight threads that share a table of
--   64 locks wait 1 % of their time for locks that are held for 35 ns each.
-- Known false positives: none; what it says is counted by the kernel.
SELECT
    delayed.run_id, 'processors' AS section, 'crowded' AS code, advice.severity, 'processors' AS subject,
    json_object('run_delay_ns', run_delay_ns, 'cpu_ns', cpu_ns, 'delay_percent', delay_percent, 'ready_threads', ready_threads,
                'processors', processors, 'lock_delay_ns', lock_delay_ns, 'thread', thread, 'thread_delay_ns', thread_delay_ns,
                'window_from_ns', window_from_ns, 'window_ns', window_ns, 'window_delay_ns', window_delay_ns) AS evidence,
    '[]' AS trace_ids, advice.text AS advice, run_delay_ns, cpu_ns, delay_percent, ready_threads, processors, lock_delay_ns,
    thread, thread_delay_ns, window_from_ns, window_ns, window_delay_ns
FROM (SELECT run_facts.run_id, run_delay_ns, cpu_ns, processors,
             CAST(round(100.0 * run_delay_ns / nullif(run_delay_ns + coalesce(cpu_ns, duration_ns), 0)) AS BIGINT) AS delay_percent,
             round(1.0 * (run_delay_ns + cpu_ns) / nullif(duration_ns, 0), 1) AS ready_threads,
             (SELECT CAST(nullif(sum(wait_delay_ns), 0) AS BIGINT) FROM lock_facts WHERE lock_facts.run_id = run_facts.run_id) AS lock_delay_ns,
             worst.name AS thread, worst.delay_ns AS thread_delay_ns, window_from_ns, window_ns, window_delay_ns
      FROM run_facts
      LEFT JOIN delay_facts AS worst ON worst.run_id = run_facts.run_id AND worst.rank = 1) AS delayed
JOIN advice ON advice.code = 'processors-crowded'
WHERE run_delay_ns >= (SELECT value FROM rules WHERE name = 'processors_delay_ns')
  AND delay_percent >= (SELECT value FROM rules WHERE name = 'processors_delay_percent');
