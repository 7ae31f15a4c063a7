DROP VIEW IF EXISTS doctor_lock;
CREATE VIEW doctor_lock AS
-- Question: which locks cost time, and what would be cheaper?
-- Rows: one per lock (run, object, address); its callers and the profiles of the run are summed, of longest waits and holds the
--   longest is kept. Healthy locks have a row too, with code and severity ok. Values are summed as they are, also where profiles
--   have different periods.
-- Columns: those of doctor, and
--   object_id [id]: the lock, in objects
--   address [address]: of the lock in the process
--   kind [text]: mutex, rwlock, spin, own; empty: unknown
--   acquires [count]: exclusive acquisitions
--   contended [count]: those of them that had to wait
--   read_acquires [count]: shared acquisitions, whose holds are not timed
--   read_contended [count]: those of them that had to wait
--   total_acquires [count]: acquires + read_acquires
--   total_contended [count]: contended + read_contended, and the waits that ended without the lock
--   read_percent [percent]: read_acquires of total_acquires, a whole number
--   contended_percent [percent]: total_contended of total_acquires and the waits that ended without the lock, a whole number
--   wait_ns [ns]: sum of all waits
--   max_wait_ns [ns]: the longest wait
--   hold_ns [ns]: sum of the exclusive holds
--   mean_hold_ns [ns]: hold_ns / acquires
--   max_hold_ns [ns]: the longest exclusive hold
--   usual_hold_ns [ns]: the mean of the holds without the longest, where there are lock_fit_acquires of them: one holder that lost its
--     processor does not make a short lock long
--   wait_percent [percent]: wait_ns of the thread time of the run, a whole number: the lives of all threads, less what they waited for
--     that is no lock (condition variables, the end of threads, ...), and no less than the run's duration. Where lives of threads are
--     not known (files before version 4, ingested ones), of the duration, and above 100 where several threads wait at once. NULL: that
--     is not known either
--   timeouts [count]: waits that ended at their time limit, without the lock
--   unfinished [count]: waits that were not over when the process ended
--   condition_waits [count]: of a mutex: waits on condition variables that released it
--   unfinished_max_wait_ns [ns]: the longest wait of a caller that was still waiting when the process ended
--   io_ns [ns]: in calls that read, write, open and close, made by the functions that take the lock, behind the line where they do; NULL: no
--     such calls, or nobody waits for the lock
--   work_allocs [count]: blocks allocated there; NULL: the same
-- Thresholds (names are rows of the table rules; the first code that matches wins):
--   Of a recorded run:
--   deadlock: in a process, threads wait for a mutex, rwlock or spin lock to its end, for lock_deadlock_wait_ns (250 ms) or longer, and
--     either another lock of that process has such waits too, or the wait is longer than lock_deadlock_holds (10) times the longest
--     hold of the lock in that process, and nobody took the lock in a window that began after the wait did. A signal ended the run, or an exit status that is not 0 where another lock is waited for; or
--     the process is not the first of the run, whose end is not known. A wait on a condition variable is no wait for its mutex: idle
--     workers are no deadlock.
--   work-under-lock: io_ns, and work_allocs at heap_temporary_block_ns (50 ns) each, are lock_work_percent (30 %) of hold_ns, and io_ns is
--     no more than lock_work_most_percent (120 %) of it: more cannot be under the lock. The waits are not below lock_wait_note_ns
--     (1 ms), and contended_percent >= lock_contended_percent (20 %), or wait_percent >= lock_starved_percent (10 %), or they are the
--     longest of the run. What else such a function does behind that line, after it gave the lock back, is not told apart.
--   Of a recorded run, where the time that threads wait counts more than how many operations wait:
--   mvcc-fit: read_percent >= lock_mvcc_read_percent (80 %), total_acquires >= lock_fit_acquires (1,000), and either
--     contended_percent >= lock_fit_contended_percent (10 %) or wait_percent >= lock_starved_percent (10 %).
--   hot-long: contended_percent >= lock_contended_percent (20 %), mean_hold_ns > lock_long_hold_ns (1 ms).
--   starved: contended_percent < lock_contended_percent (20 %), usual_hold_ns >= lock_fit_hold_ns (1,000 ns), wait_percent >=
--     lock_starved_percent (10 %), and the mean of the waits is at least lock_starved_wait_ns (1 ms).
--   atomic-fit: usual_hold_ns < lock_fit_hold_ns (1,000 ns), read_percent < lock_atomic_read_percent (50 %), and either
--     total_acquires >= lock_fit_acquires (1,000) with contended_percent >= lock_fit_contended_percent (10 %), or total_acquires
--     >= lock_atomic_acquires (100,000).
--   atomic-ptr-fit: usual_hold_ns < lock_fit_hold_ns (1,000 ns), total_acquires >= lock_fit_acquires (1,000), contended_percent >=
--     lock_fit_contended_percent (10 %).
--   contended: contended_percent >= lock_contended_percent (20 %).
--   starved also: wait_percent >= lock_starved_percent (10 %); or the lock has the longest waits of its run, and they are not
--     below lock_wait_note_ns (1 ms). So the lock that threads wait longest for is never ok.
--   long-hold: mean_hold_ns > lock_long_hold_ns (1 ms).
--   ok: all others.
--   A mutex that condition variables use (condition_waits > 0) guards what threads wait for, such as a queue: it is never mvcc-fit,
--   atomic-fit or atomic-ptr-fit, for a condition variable needs a mutex.
--   Of an ingested file, whose durations and holds may be unknown:
--   mvcc-fit: read_percent >= lock_mvcc_read_percent (80 %), total_acquires >= lock_fit_acquires (1,000), contended_percent >=
--     lock_fit_contended_percent (10 %).
--   atomic-fit: as of a recorded run, with any hold. atomic-ptr-fit: the same.
--   hot-long, long-hold: as of a recorded run. contended: contended_percent >= lock_contended_percent (20 %). ok: all others.
-- Severity of deadlock: that of the advice. Of all others: that of the advice, but a note if wait_ns < lock_wait_note_ns (1 ms), and critical if wait_ns is at least
--   lock_critical_percent (10 %) of the thread time. Of a recorded run, besides: a note if wait_percent <
--   lock_warning_percent (1 %); critical only if there were lock_critical_waits (10) waits, or wait_ns is at least
--   lock_critical_ns (100 ms); else at most a warning. starved of a recorded run is a note if fewer than lock_critical_waits (10) waits took
--   less than lock_few_waits_ns (10 ms) together. work-under-lock is at most a warning where the writes under the lock move
--   lock_wake_bytes (8 B) or less in the mean: they wake a thread.
-- Measured: in a queue that is as it should be, a thread that the machine stopped kept five others waiting for 5 ms, once. Four threads that count under a mutex hold it 150 to 350 ns in the mean, also on a busy machine, where one of a
--   million holds lasted 95 ms; a lock around a sleep of 100 us holds 300 us. Hence 1 us for the fits. A thread that takes a lock
--   again at once kept another one out for 3 ms a time with 14 % of the operations waiting. Hence starved.
-- advice: of work-under-lock also the calls and allocations, each with its line. Of a deadlock also the waits of the run that did not end: each lock, its caller and the line.
-- trace_ids: the callers where they were recorded, else the stack that allocated the lock, else the one that took it first. First the caller that holds longest
--   (hot-long, long-hold), else the one that waits longest.
-- Known false positives: work that a function does after it gave the lock back, as long as the holds are (work-under-lock). A program that is killed while threads queue for two locks that are held long (deadlock). A lock that is held during one long step of start-up and that nobody waits for (long-hold). A lock by
--   which idle workers wait for work on purpose (starved).
SELECT
    run.id AS run_id,
    'lock' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    objects.name AS subject,
    finding.value AS evidence,
    substr(finding.key, 151) AS trace_ids,
    advice.text
    || iif(trim(substr(finding.key, 1, 20)) = 'deadlock',
           coalesce((SELECT ' Waits that did not end: '
                            || group_concat(waiting.name || ' in ' || places.function
                                            || iif(places.line > 0, printf(' (%s:%d)',
                                                      substr(places.file, 1 + length(rtrim(places.file, replace(places.file, '/', '')))),
                                                      places.line), ''), '; ') || '.'
                     FROM profiles
                     JOIN locks ON locks.profile_id = profiles.id
                     JOIN objects AS waiting ON waiting.id = locks.object_id
                     JOIN places ON places.trace_id = locks.trace_id
                     WHERE profiles.run_id = run.id AND profiles.kind = 'lock' AND locks.unfinished > 0
                       AND locks.trace_id <> 0), ''), '')
    || iif(trim(substr(finding.key, 1, 20)) = 'work-under-lock',
           coalesce((SELECT ' Here: ' || group_concat(DISTINCT work.call || ' in ' || places.function
                                            || iif(places.line > 0, printf(' (%s:%d)',
                                                      substr(places.file, 1 + length(rtrim(places.file, replace(places.file, '/', '')))),
                                                      places.line), '')) || '.'
                     FROM (SELECT io.trace_id, io.call
                           FROM profiles
                           JOIN io ON io.profile_id = profiles.id
                           WHERE profiles.run_id = run.id AND profiles.kind = 'io'
                           GROUP BY 1, 2
                           HAVING sum(io.time_ns) * 10 >= CAST((SELECT value FROM json_each(finding.value) WHERE key = 'io_ns') AS INTEGER)
                           UNION ALL
                           SELECT sites.trace_id, 'allocations'
                           FROM profiles
                           JOIN sites ON sites.profile_id = profiles.id
                           WHERE profiles.run_id = run.id AND profiles.kind = 'heap' AND CAST((SELECT value FROM json_each(finding.value) WHERE key = 'work_allocs') AS INTEGER) > 0
                           GROUP BY 1
                           HAVING sum(sites.alloc_count) * 10 >= CAST((SELECT value FROM json_each(finding.value) WHERE key = 'work_allocs') AS INTEGER)) AS work
                     JOIN places ON places.trace_id = work.trace_id
                     JOIN traces ON traces.id = work.trace_id
                     WHERE EXISTS (SELECT 1
                                   FROM profiles AS used
                                   JOIN locks ON locks.profile_id = used.id
                                   JOIN traces AS taker
                                       ON taker.id = iif(locks.trace_id <> 0, locks.trace_id, locks.first_trace_id)
                                   JOIN json_each(traces.stack) AS step
                                   JOIN location_lines AS frame ON frame.location_id = step.value
                                   WHERE used.run_id = run.id AND used.kind = 'lock'
                                     AND locks.object_id = objects.id AND locks.address = CAST(substr(finding.key, 51, 20) AS INTEGER)
                                     AND taker.line > 0 AND frame.function_id = taker.function_id
                                     AND frame.line > taker.line)), ''), '') AS advice,
    objects.id AS object_id,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS address,
    (SELECT value FROM json_each(finding.value) WHERE key = 'kind') AS kind,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'acquires') AS INTEGER) AS acquires,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'contended') AS INTEGER) AS contended,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'read_acquires') AS INTEGER) AS read_acquires,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'read_contended') AS INTEGER) AS read_contended,
    CAST(substr(finding.key, 91, 20) AS INTEGER) AS total_acquires,
    CAST(substr(finding.key, 111, 20) AS INTEGER) AS total_contended,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'read_percent') AS INTEGER) AS read_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'contended_percent') AS INTEGER) AS contended_percent,
    CAST(substr(finding.key, 71, 20) AS INTEGER) AS wait_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'max_wait_ns') AS INTEGER) AS max_wait_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'hold_ns') AS INTEGER) AS hold_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'mean_hold_ns') AS INTEGER) AS mean_hold_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'max_hold_ns') AS INTEGER) AS max_hold_ns,
    CAST(substr(finding.key, 131, 20) AS INTEGER) AS usual_hold_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'wait_percent') AS INTEGER) AS wait_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'timeouts') AS INTEGER) AS timeouts,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'unfinished') AS INTEGER) AS unfinished,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'condition_waits') AS INTEGER) AS condition_waits,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'unfinished_max_wait_ns') AS INTEGER) AS unfinished_max_wait_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'io_ns') AS INTEGER) AS io_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'work_allocs') AS INTEGER) AS work_allocs
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
-- The rows of what is no lock are summed too: what threads waited for there is no time in which they could wait for a lock.
lock AS (
    SELECT
        run.id AS run_id, profiles.kind = 'wait' AS is_wait, locks.object_id, locks.address, max(locks.kind) AS kind,
        sum(acquires) AS acquires, sum(contended) AS contended,
        sum(read_acquires) AS read_acquires, sum(read_contended) AS read_contended,
        sum(acquires + read_acquires) AS total_acquires,
        sum(contended + read_contended + timeouts + unfinished) AS total_contended,
        sum(acquires + read_acquires + timeouts + unfinished) AS total_attempts,
        sum(wait_ns + read_wait_ns) AS wait_ns, max(max(max_wait_ns, read_max_wait_ns)) AS max_wait_ns,
        sum(hold_ns) AS hold_ns, max(max_hold_ns) AS max_hold_ns,
        sum(timed_holds) AS timed_holds,
        max(iif(unfinished > 0, max(max_wait_ns, read_max_wait_ns), 0)) AS unfinished_max_wait_ns,
        sum(timeouts) AS timeouts, sum(unfinished) AS unfinished, sum(condition_waits) AS condition_waits
    FROM locks
    JOIN profiles ON profiles.id = locks.profile_id
    WHERE profiles.run_id = run.id
    GROUP BY profiles.kind = 'wait', locks.object_id, locks.address
),
share AS (
    SELECT
        lock.*,
        (SELECT sum(thread_ns) FROM processes WHERE processes.run_id = lock.run_id)
            - sum(iif(is_wait, wait_ns, 0)) OVER () AS thread_ns,
        wait_ns = max(iif(is_wait, 0, wait_ns)) OVER () AS has_longest_waits
    FROM lock
),
figure AS (
    SELECT
        share.*,
        coalesce(CAST(round(100.0 * read_acquires / nullif(total_acquires, 0)) AS INTEGER), 0) AS read_percent,
        coalesce(CAST(round(100.0 * total_contended / nullif(total_attempts, 0)) AS INTEGER), 0) AS contended_percent,
        coalesce(1.0 * hold_ns / nullif(acquires, 0), 0.0) AS mean_hold_ns,
        coalesce(iif(acquires >= (SELECT value FROM rules WHERE name = 'lock_fit_acquires') AND timed_holds > 1,
                     max(0.0, hold_ns - 1.0 * max_hold_ns * acquires / timed_holds) / (acquires - 1.0 * acquires / timed_holds),
                     1.0 * hold_ns / nullif(acquires, 0)), 0.0) AS usual_hold_ns,
        coalesce(1.0 * wait_ns / nullif(total_contended, 0), 0.0) AS mean_wait_ns,
        CAST(round(100.0 * wait_ns / nullif(max(runs.duration_ns, coalesce(thread_ns, 0)), 0)) AS INTEGER) AS wait_percent,
        runs.source = 'profile' AS is_recorded,
        runs.exit_signal IS NOT NULL AS is_killed,
        coalesce(runs.exit_status, 0) <> 0 AS is_failed
    FROM share
    JOIN runs ON runs.id = share.run_id
    WHERE NOT is_wait
),
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'lock_mvcc_read_percent') AS mvcc_read_percent,
        max(value) FILTER (WHERE name = 'lock_atomic_read_percent') AS atomic_read_percent,
        max(value) FILTER (WHERE name = 'lock_fit_acquires') AS fit_acquires,
        max(value) FILTER (WHERE name = 'lock_fit_contended_percent') AS fit_contended_percent,
        max(value) FILTER (WHERE name = 'lock_atomic_acquires') AS atomic_acquires,
        max(value) FILTER (WHERE name = 'lock_contended_percent') AS contended_percent,
        max(value) FILTER (WHERE name = 'lock_long_hold_ns') AS long_hold_ns,
        max(value) FILTER (WHERE name = 'lock_fit_hold_ns') AS fit_hold_ns,
        max(value) FILTER (WHERE name = 'lock_starved_percent') AS starved_percent,
        max(value) FILTER (WHERE name = 'lock_starved_wait_ns') AS starved_wait_ns,
        max(value) FILTER (WHERE name = 'lock_wait_note_ns') AS wait_note_ns,
        max(value) FILTER (WHERE name = 'lock_warning_percent') AS warning_percent,
        max(value) FILTER (WHERE name = 'lock_critical_percent') AS critical_percent,
        max(value) FILTER (WHERE name = 'lock_critical_waits') AS critical_waits,
        max(value) FILTER (WHERE name = 'lock_few_waits_ns') AS few_waits_ns,
        max(value) FILTER (WHERE name = 'lock_critical_ns') AS critical_ns,
        max(value) FILTER (WHERE name = 'lock_deadlock_wait_ns') AS deadlock_wait_ns,
        max(value) FILTER (WHERE name = 'lock_deadlock_holds') AS deadlock_holds,
        max(value) FILTER (WHERE name = 'heap_temporary_block_ns') AS block_ns,
        max(value) FILTER (WHERE name = 'lock_work_percent') AS work_percent,
        max(value) FILTER (WHERE name = 'lock_work_most_percent') AS work_most_percent,
        max(value) FILTER (WHERE name = 'lock_wake_bytes') AS wake_bytes
    FROM rules
),
-- What is true of a lock, in the words of the thresholds above.
fact AS (
    SELECT
        figure.*,
        figure.contended_percent >= rule.contended_percent AS is_contended,
        figure.contended_percent >= rule.fit_contended_percent AS is_fit_contended,
        mean_hold_ns > rule.long_hold_ns AS is_long,
        NOT is_recorded OR usual_hold_ns < rule.fit_hold_ns AS is_short,
        is_recorded AND coalesce(wait_percent, 0) >= rule.starved_percent AS is_costly,
        mean_wait_ns >= rule.starved_wait_ns AS is_wait_long,
        total_acquires >= rule.fit_acquires AS is_used,
        condition_waits > 0 AS is_queue,
        is_recorded AND acquires > 0 AND wait_ns >= rule.wait_note_ns
            AND (coalesce(wait_percent, 0) >= rule.warning_percent
                     AND (figure.contended_percent >= rule.contended_percent OR coalesce(wait_percent, 0) >= rule.starved_percent)
                 OR has_longest_waits) AS is_waited_for,
        rule.block_ns, rule.work_percent, rule.work_most_percent, rule.wake_bytes,
        is_recorded AND unfinished > 0 AND kind IN ('mutex', 'rwlock', 'spin')
            AND EXISTS (SELECT 1
                        FROM (SELECT used.*,
                                     EXISTS (SELECT 1
                                             FROM profiles AS near
                                             JOIN locks AS other ON other.profile_id = near.id
                                             WHERE near.run_id = figure.run_id AND near.kind = 'lock'
                                               AND near.process_id IS used.process_id AND other.unfinished > 0
                                               AND (other.object_id <> figure.object_id OR other.address <> figure.address))
                                         AS is_chained,
                                     -- In a window that began after the wait did.
                                     EXISTS (SELECT 1
                                             FROM profiles AS late
                                             JOIN locks AS taken ON taken.profile_id = late.id
                                             WHERE late.run_id = figure.run_id AND late.kind = 'lock'
                                               AND late.process_id IS used.process_id AND taken.object_id = figure.object_id
                                               AND taken.address = figure.address AND taken.acquires + taken.read_acquires > 0
                                               AND late.duration_ns > 0
                                               AND late.time_ns - late.duration_ns > used.ended_ns - used.longest_wait_ns)
                                         AS is_taken_meanwhile,
                                     EXISTS (SELECT 1
                                             FROM processes
                                             JOIN processes AS first ON first.run_id = processes.run_id
                                                                        AND first.started_ns < processes.started_ns
                                             WHERE processes.id = used.process_id) AS is_child
                              FROM (SELECT -- in one process
                                           profiles.process_id, max(profiles.time_ns) AS ended_ns,
                                           max(locks.max_hold_ns) AS longest_hold_ns,
                                           max(iif(locks.unfinished > 0, max(locks.max_wait_ns, locks.read_max_wait_ns), 0))
                                               AS longest_wait_ns
                                    FROM profiles
                                    JOIN locks ON locks.profile_id = profiles.id
                                    WHERE profiles.run_id = figure.run_id AND profiles.kind = 'lock'
                                      AND locks.object_id = figure.object_id AND locks.address = figure.address
                                    GROUP BY profiles.process_id) AS used
                              WHERE longest_wait_ns >= rule.deadlock_wait_ns) AS waiting
                        WHERE longest_wait_ns >= iif(is_chained, 0, 1 + rule.deadlock_holds * longest_hold_ns)
                          AND (is_chained OR NOT is_taken_meanwhile)
                          AND (is_killed OR is_failed AND is_chained OR is_child)) AS is_deadlock,
        total_acquires >= rule.atomic_acquires AS is_busy,
        figure.read_percent >= rule.mvcc_read_percent AS is_mostly_read,
        figure.read_percent < rule.atomic_read_percent AS is_mostly_exclusive,
        wait_ns < rule.wait_note_ns AS is_brief,
        is_recorded AND wait_percent < rule.warning_percent AS is_cheap,
        is_recorded AND total_contended < rule.critical_waits AND wait_ns < rule.few_waits_ns AS is_once,
        coalesce(wait_percent, 0) >= rule.critical_percent
            AND (NOT is_recorded OR total_contended >= rule.critical_waits OR wait_ns >= rule.critical_ns) AS is_critical
    FROM figure
    CROSS JOIN rule
),
-- The functions that take the lock, ",4,17,", of locks that threads wait for: most frames of the stacks below are in none of them, and
-- are passed over by that.
taken AS (
    SELECT DISTINCT -- by which SQLite computes the list once for a lock, and not wherever it is used; in `worked` likewise
        fact.*,
        CASE WHEN is_waited_for THEN
            (SELECT ',' || group_concat(DISTINCT taker.function_id) || ','
             FROM profiles AS used
             JOIN locks ON locks.profile_id = used.id
             JOIN traces AS taker ON taker.id = iif(locks.trace_id <> 0, locks.trace_id, locks.first_trace_id)
             WHERE used.run_id = fact.run_id AND used.kind = 'lock' AND locks.object_id = fact.object_id
               AND locks.address = fact.address AND taker.line > 0) END AS functions
    FROM fact
),
-- What is done in the functions that take the lock, below the line where they do, in calls that read, write, open and close, and in
-- allocations.
worked AS (
    SELECT DISTINCT
        taken.*,
        CASE WHEN functions IS NOT NULL THEN
            (SELECT sum(called.time_ns)
             FROM (SELECT io.trace_id, sum(io.time_ns) AS time_ns
                   FROM profiles
                   JOIN io ON io.profile_id = profiles.id
                   WHERE profiles.run_id = taken.run_id AND profiles.kind = 'io'
                   GROUP BY io.trace_id) AS called
             WHERE EXISTS (SELECT 1
                           FROM json_each((SELECT stack FROM traces WHERE id = called.trace_id)) AS step
                           JOIN location_lines AS frame ON frame.location_id = step.value
                           WHERE instr(taken.functions, ',' || frame.function_id || ',') > 0
                             AND EXISTS (SELECT 1
                                         FROM profiles AS used
                                         JOIN locks ON locks.profile_id = used.id
                                         JOIN traces AS taker
                                             ON taker.id = iif(locks.trace_id <> 0, locks.trace_id, locks.first_trace_id)
                                         WHERE used.run_id = taken.run_id AND used.kind = 'lock'
                                           AND locks.object_id = taken.object_id AND locks.address = taken.address
                                           AND taker.line > 0 AND taker.function_id = frame.function_id
                                           AND taker.line < frame.line))) END AS io_ns,
        CASE WHEN functions IS NOT NULL THEN
            (SELECT sum(called.allocs)
             FROM (SELECT sites.trace_id, sum(sites.alloc_count) AS allocs
                   FROM profiles
                   JOIN sites ON sites.profile_id = profiles.id
                   WHERE profiles.run_id = taken.run_id AND profiles.kind = 'heap'
                   GROUP BY sites.trace_id) AS called
             WHERE EXISTS (SELECT 1
                           FROM json_each((SELECT stack FROM traces WHERE id = called.trace_id)) AS step
                           JOIN location_lines AS frame ON frame.location_id = step.value
                           WHERE instr(taken.functions, ',' || frame.function_id || ',') > 0
                             AND EXISTS (SELECT 1
                                         FROM profiles AS used
                                         JOIN locks ON locks.profile_id = used.id
                                         JOIN traces AS taker
                                             ON taker.id = iif(locks.trace_id <> 0, locks.trace_id, locks.first_trace_id)
                                         WHERE used.run_id = taken.run_id AND used.kind = 'lock'
                                           AND locks.object_id = taken.object_id AND locks.address = taken.address
                                           AND taker.line > 0 AND taker.function_id = frame.function_id
                                           AND taker.line < frame.line))) END AS work_allocs
    FROM taken
),
judged AS (
    SELECT
        worked.*,
        CASE WHEN is_deadlock THEN 'deadlock'
             WHEN (coalesce(io_ns, 0) + coalesce(work_allocs, 0) * block_ns) * 100.0 >= work_percent * max(hold_ns, 1)
                  AND coalesce(io_ns, 0) * 100.0 <= work_most_percent * max(hold_ns, 1) THEN 'work-under-lock'
             WHEN NOT is_queue AND is_mostly_read AND is_used AND (is_fit_contended OR is_costly) THEN 'mvcc-fit'
             WHEN is_recorded AND is_contended AND is_long THEN 'hot-long'
             WHEN is_costly AND NOT is_contended AND NOT is_short AND is_wait_long THEN 'starved'
             WHEN NOT is_queue AND is_short AND is_mostly_exclusive AND (is_used AND is_fit_contended OR is_busy) THEN 'atomic-fit'
             WHEN NOT is_queue AND is_short AND is_used AND is_fit_contended THEN 'atomic-ptr-fit'
             WHEN is_contended AND is_long THEN 'hot-long'
             WHEN is_contended THEN 'contended'
             WHEN is_costly OR is_recorded AND has_longest_waits AND NOT is_brief THEN 'starved'
             WHEN is_long THEN 'long-hold'
             ELSE 'ok' END AS code
    FROM worked
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d%20d%20d%20d%20d%s":', judged.code,
        CASE WHEN judged.code = 'ok' THEN 'ok'
             WHEN judged.code = 'deadlock' THEN advice.severity
             WHEN is_brief OR is_cheap OR is_once AND judged.code = 'starved' THEN 'note'
             -- A few bytes to an eventfd or a pipe wake a thread: that takes long only where the machine gives the processor to another one.
         WHEN is_critical AND judged.code = 'work-under-lock' AND coalesce(work_allocs, 0) = 0
              AND (SELECT sum(io.bytes) <= wake_bytes * sum(io.calls)
                   FROM profiles
                   JOIN io ON io.profile_id = profiles.id
                   JOIN traces ON traces.id = io.trace_id
                   WHERE profiles.run_id = judged.run_id AND profiles.kind = 'io' AND io.call IN ('write', 'send')
                     AND EXISTS (SELECT 1
                                 FROM profiles AS used
                                 JOIN locks ON locks.profile_id = used.id
                                 JOIN traces AS taker
                                     ON taker.id = iif(locks.trace_id <> 0, locks.trace_id, locks.first_trace_id)
                                 JOIN json_each(traces.stack) AS step
                                 JOIN location_lines AS frame ON frame.location_id = step.value
                                 WHERE used.run_id = judged.run_id AND used.kind = 'lock'
                                   AND locks.object_id = judged.object_id AND locks.address = judged.address
                                   AND taker.line > 0 AND frame.function_id = taker.function_id
                                   AND frame.line > taker.line)) THEN 'warning'
         WHEN is_critical THEN 'critical'
             WHEN is_recorded AND advice.severity = 'critical' THEN 'warning'
             ELSE advice.severity END,
        judged.object_id, judged.address, wait_ns, total_acquires, total_contended, CAST(round(usual_hold_ns) AS INTEGER),
        coalesce(
            (SELECT '[' || group_concat(trace_id) OVER (
                        ORDER BY weight DESC, operations DESC, trace_id
                        ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) || ']'
             FROM (SELECT
                       CASE WHEN locks.trace_id <> 0 THEN locks.trace_id WHEN objects.trace_id <> 0 THEN objects.trace_id
                            ELSE locks.first_trace_id END AS trace_id,
                       iif(judged.code IN ('hot-long', 'long-hold'), sum(locks.hold_ns),
                           sum(locks.wait_ns + locks.read_wait_ns)) AS weight,
                       sum(locks.acquires + locks.read_acquires) AS operations
                   FROM profiles
                   JOIN locks ON locks.profile_id = profiles.id
                   WHERE profiles.run_id = judged.run_id
                     AND profiles.kind = 'lock' -- all locks are of this kind; halves the time for runs with many windows
                     AND locks.object_id = judged.object_id
                     AND locks.address = judged.address
                   GROUP BY 1)
             WHERE trace_id <> 0
             LIMIT 1), '[]'))
    || printf('{"kind":"%s","acquires":%d,"contended":%d,"read_acquires":%d,"read_contended":%d,"read_percent":%d,'
           || '"contended_percent":%d,"wait_ns":%d,"max_wait_ns":%d,"wait_percent":%s,"hold_ns":%d,"mean_hold_ns":%d,'
           || '"max_hold_ns":%d,"timeouts":%d,"unfinished":%d,"condition_waits":%d,'
           || '"unfinished_max_wait_ns":%d,"io_ns":%s,"work_allocs":%s}',
           judged.kind, acquires, contended, read_acquires, read_contended, read_percent, contended_percent, wait_ns,
           max_wait_ns, coalesce(wait_percent, 'null'), hold_ns, CAST(round(mean_hold_ns) AS INTEGER), max_hold_ns,
           timeouts, unfinished, condition_waits, unfinished_max_wait_ns, coalesce(io_ns, 'null'),
           coalesce(work_allocs, 'null'))) || '}'
FROM judged
JOIN objects ON objects.id = judged.object_id
LEFT JOIN advice ON advice.code = 'lock-' || judged.code
)) AS finding
JOIN objects ON objects.id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'lock-' || trim(substr(finding.key, 1, 20));
