DROP VIEW IF EXISTS doctor_lock;
CREATE VIEW doctor_lock AS
-- Question: which locks cost time, and what would be cheaper?
-- Rows: one per row of lock_facts. Healthy locks have a row too, with code and severity ok.
-- Columns: those of doctor, those of lock_facts, and
--   usual_hold_ns [ns]: as in lock_traits
-- Waits and holds are judged without the time in which their threads had no processor: own_wait_ns and own_mean_hold_ns of lock_traits.
-- Thresholds (names are rows of the table rules; those of the words below stand in the view lock_traits; the first code that matches wins):
--   deadlock: of a recorded run. Threads of a process wait for a mutex, rwlock or spin lock to its end, for lock_deadlock_wait_ns (250 ms) or
--     longer, and either another lock of it has such waits too, or nobody took the lock meanwhile, and the wait is longer than
--     lock_deadlock_holds (10) times the longest hold. A signal ended the run, or another exit status than 0 where two locks are waited for, or
--     it is a child, whose end is not known. A wait on a condition variable is no wait for its mutex: idle workers are no deadlock. Of a
--     process that goes on (attached to): threads wait for each other, as their locks say when the recording ends, for that long.
--   work-under-lock: of a recorded run, worked under, not brief, and contended or costly and not cheap, or waited for longest in the run.
--   mvcc-fit: mostly read, used, and fit contended or costly. No mutex that condition variables use is a fit: it guards a queue.
--   hot-long: contended and long; of an ingested file only behind the fits. contended, long-hold: contended, long. ok: all others.
--   starved: costly, neither contended nor short, of long waits; or none of the others, and costly, or waited for longest and not brief.
--   atomic-fit: short, mostly exclusive, and busy, or used and fit contended. atomic-ptr-fit: short, used and fit contended.
-- Severity: that of the advice, of a recorded run at most a warning, unless it is critical. A note if brief, cheap or of a runtime, or starved once;
--   starved, mvcc-fit and work-under-lock also where it is rare; starved, hot-long, contended and work-under-lock where it is delayed or few.
--   work-under-lock that only wakes is a warning, as is starved of an ingested file, whose thread time is not known; deadlock always critical.
-- Measured: four threads that count under a mutex hold it 150 to 350 ns in the mean; a lock around a sleep of 100 us holds 300 us. Hence 1 us.
--   A thread that takes a lock again at once kept another one out for 3 ms a time with 14 % of the operations waiting. Hence starved.
-- Known false positives: work that a function does after it gave the lock back (work-under-lock). A program that is killed while threads queue for
--   two locks (deadlock). A lock of start-up that nobody waits for (long-hold), or by which idle workers wait for work (starved).
SELECT
    lock.run_id, 'lock' AS section, substr(advice.code, 6) AS code,
    CASE WHEN advice.code IN ('lock-ok', 'lock-deadlock') THEN advice.severity
         WHEN is_brief OR is_cheap OR is_of_runtime = 1 OR is_once AND advice.code = 'lock-starved' THEN 'note'
         WHEN (is_delayed OR is_few) AND advice.code IN ('lock-starved', 'lock-hot-long', 'lock-contended', 'lock-work-under-lock') THEN 'note'
         WHEN is_rare AND advice.code IN ('lock-starved', 'lock-mvcc-fit', 'lock-work-under-lock') THEN 'note'
         WHEN is_critical AND is_waking AND advice.code = 'lock-work-under-lock' AND coalesce(work_allocs, 0) = 0 THEN 'warning'
         WHEN is_critical AND (is_recorded = 1 OR advice.code <> 'lock-starved') THEN 'critical'
         WHEN is_recorded = 1 AND advice.severity = 'critical' THEN 'warning'
         ELSE advice.severity END AS severity,
    objects.name AS subject,
    json_object('kind', lock.kind, 'acquires', acquires, 'contended', contended, 'read_acquires', read_acquires, 'read_contended', read_contended,
                'read_percent', read_percent, 'contended_percent', contended_percent, 'wait_ns', wait_ns, 'max_wait_ns', max_wait_ns,
                'wait_percent', wait_percent, 'hold_ns', hold_ns, 'mean_hold_ns', CAST(round(mean_hold_ns) AS BIGINT),
                'max_hold_ns', max_hold_ns, 'timeouts', timeouts, 'unfinished', unfinished, 'condition_waits', condition_waits,
                'unfinished_max_wait_ns', unfinished_max_wait_ns, 'wait_delay_ns', nullif(wait_delay_ns, 0), 'hold_delay_ns', nullif(hold_delay_ns, 0),
                'io_ns', CASE WHEN is_waited_for THEN io_ns END, 'work_allocs', CASE WHEN is_waited_for THEN work_allocs END) AS evidence,
    (SELECT '[' || coalesce(group_concat(trace_id), '') || ']'
     FROM (SELECT trace_id, CASE WHEN advice.code IN ('lock-hot-long', 'lock-long-hold') THEN caller.hold_ns ELSE caller.wait_ns END AS weight
           FROM lock_caller_facts AS caller
           WHERE caller.run_id = lock.run_id AND caller.object_id = lock.object_id AND caller.address = lock.address
           ORDER BY weight DESC, operations DESC, trace_id) AS callers) AS trace_ids,
    advice.text || CASE advice.code
        WHEN 'lock-deadlock' THEN coalesce(
            (SELECT ' Waits that did not end: ' || group_concat(waiting.name || ' in ' || place_names.name, '; ') || '.'
             FROM lock_caller_facts AS caller
             JOIN objects AS waiting ON waiting.id = caller.object_id
             JOIN place_names ON place_names.trace_id = caller.trace_id
             WHERE caller.run_id = lock.run_id AND caller.unfinished > 0), '')
        WHEN 'lock-work-under-lock' THEN coalesce(
            (SELECT ' Here: ' || group_concat(DISTINCT work.call || ' in ' || place_names.name) || '.'
             FROM lock_work_facts AS work
             JOIN place_names ON place_names.trace_id = work.trace_id
             WHERE work.run_id = lock.run_id AND work.object_id = lock.object_id AND work.address = lock.address), '')
        ELSE '' END AS advice,
    lock.object_id, address, lock.kind, acquires, contended, read_acquires, read_contended, total_acquires, total_contended, read_percent,
    contended_percent, wait_ns, max_wait_ns, wait_percent, hold_ns, CAST(round(mean_hold_ns) AS BIGINT) AS mean_hold_ns, other_hold_ns, max_hold_ns,
    timeouts, unfinished, condition_waits, unfinished_max_wait_ns, is_longest, CASE WHEN is_waited_for THEN io_ns END AS io_ns,
    CASE WHEN is_waited_for THEN work_allocs END AS work_allocs, write_calls, write_bytes, wait_delay_ns, hold_delay_ns, seen_percent, is_of_runtime,
    CAST(round(usual_hold_ns) AS BIGINT) AS usual_hold_ns
FROM lock_traits AS lock
JOIN advice
    ON advice.code = CASE WHEN is_deadlocked AND lock.kind IN ('mutex', 'rwlock', 'spin') THEN 'lock-deadlock'
                          WHEN is_waited_for AND is_worked_under THEN 'lock-work-under-lock'
                          WHEN condition_waits = 0 AND is_mostly_read AND is_used AND (is_fit_contended OR is_costly) THEN 'lock-mvcc-fit'
                          WHEN is_recorded = 1 AND is_contended AND is_long THEN 'lock-hot-long'
                          WHEN is_costly AND NOT is_contended AND NOT is_short AND is_wait_long THEN 'lock-starved'
                          WHEN condition_waits = 0 AND is_short AND is_mostly_exclusive AND (is_used AND is_fit_contended OR is_busy) THEN 'lock-atomic-fit'
                          WHEN condition_waits = 0 AND is_short AND is_used AND is_fit_contended THEN 'lock-atomic-ptr-fit'
                          WHEN is_contended AND is_long THEN 'lock-hot-long'
                          WHEN is_contended THEN 'lock-contended'
                          WHEN is_costly OR is_recorded = 1 AND is_longest = 1 AND NOT is_brief THEN 'lock-starved'
                          WHEN is_long THEN 'lock-long-hold'
                          ELSE 'lock-ok' END
JOIN objects ON objects.id = lock.object_id;
