DROP VIEW IF EXISTS doctor_trace;
CREATE VIEW doctor_trace AS
-- Question: what do the single events of a run show that sums do not: convoys, locks in two orders, blocking under a lock, slow regions?
-- Rows: one per run with events (clear profile --trace) and finding: of a lock of a process, a pair of them, a lock and a stack, or a region.
-- Columns: those of doctor, and
--   object_id [id]: the lock, or the name of the region, in objects
--   other_id [id]: of inversion the other lock, in objects; else NULL
--   count [count]: convoy: waits for the lock; inversion: how often one lock was asked for under the other; io-under-lock: waits of others
--     meanwhile; long-region: times that the region was run through
--   time_ns [ns]: convoy: sum of the waits; inversion: of those under the other lock; io-under-lock: for how long others waited meanwhile;
--     long-region: the longest
-- Thresholds (names are rows of the table rules):
--   convoy: trace_convoy_count (100) waits for a lock, of which trace_convoy_percent (50 %) began as the trace_convoy_waiters-th (3rd) of
--     those that waited then, or later; and the waits together are trace_convoy_time_percent (10 %) of the run's duration.
--   inversion: a thread that had lock A waited for lock B or took it, and a thread that had B waited for A or took it. That a thread had a
--     lock is known where another one waited for it at that moment, and where holds are events.
--   io-under-lock: a thread that had a lock was in a blocking system call, or slept, while others waited for the lock: together for
--     trace_io_lock_ns (10 ms).
--   long-region: of trace_region_count (100) regions of one name the longest took trace_region_ratio (10) times as long as half of them,
--     and trace_region_ns (10 ms).
-- Severity: that of the advice. io-under-lock is a note below trace_io_lock_percent (1 %) of the run's duration.
-- advice: with the stacks: of convoy who waits longest; of inversion where each lock is asked for under the other one; of io-under-lock where
--   the owner blocks; of long-region the longest wait in the longest one.
-- Known false positives: inversion: both orders under a third lock, or never at one time (start and end of the program). io-under-lock: a
--   lock that is there to let one thread at a time write to a file. long-region: the first run through, which fills a cache.
SELECT
    run.id AS run_id,
    'trace' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    objects.name || coalesce(' and ' || others.name, '') AS subject,
    finding.value AS evidence,
    '[' || iif(first_places.trace_id <> 0, first_places.trace_id, '')
        || iif(first_places.trace_id <> 0 AND second_places.trace_id <> 0, ',', '')
        || iif(second_places.trace_id <> 0, second_places.trace_id, '') || ']' AS trace_ids,
    advice.text
    || iif(first_places.trace_id <> 0, ' Here ' || first_places.function || iif(first_places.line > 0, printf(' (%s:%d)',
               substr(first_places.file, 1 + length(rtrim(first_places.file, replace(first_places.file, '/', '')))), first_places.line), '')
           || CASE trim(substr(finding.key, 1, 20))
                  WHEN 'convoy' THEN ' waits longest.'
                  WHEN 'inversion' THEN ' asks for ' || others.name || ' under ' || objects.name || '.'
                  WHEN 'io-under-lock' THEN ' blocks.'
                  ELSE ' is the longest.' END, '')
    || iif(second_places.trace_id <> 0, ' ' || second_places.function || iif(second_places.line > 0, printf(' (%s:%d)',
               substr(second_places.file, 1 + length(rtrim(second_places.file, replace(second_places.file, '/', '')))), second_places.line), '')
           || CASE trim(substr(finding.key, 1, 20))
                  WHEN 'inversion' THEN ' asks for ' || objects.name || ' under ' || others.name || '.'
                  WHEN 'io-under-lock' THEN ' waits for the lock.'
                  ELSE ' is what it waited for longest.' END, '') AS advice,
    objects.id AS object_id,
    others.id AS other_id,
    CAST(substr(finding.key, 131, 20) AS INTEGER) AS count,
    CAST(substr(finding.key, 111, 20) AS INTEGER) AS time_ns
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'trace_convoy_count') AS convoy_count,
        max(value) FILTER (WHERE name = 'trace_convoy_waiters') AS convoy_waiters,
        max(value) FILTER (WHERE name = 'trace_convoy_percent') AS convoy_percent,
        max(value) FILTER (WHERE name = 'trace_convoy_time_percent') AS convoy_time_percent,
        max(value) FILTER (WHERE name = 'trace_io_lock_ns') AS io_lock_ns,
        max(value) FILTER (WHERE name = 'trace_io_lock_percent') AS io_lock_percent,
        max(value) FILTER (WHERE name = 'trace_region_count') AS region_count,
        max(value) FILTER (WHERE name = 'trace_region_ratio') AS region_ratio,
        max(value) FILTER (WHERE name = 'trace_region_ns') AS region_ns
    FROM rules
),
-- Waits for locks.
wait AS (
    SELECT events.id, events.process_id, events.tid, events.start_ns, events.start_ns + events.duration_ns AS end_ns, events.duration_ns,
           events.object_id, events.address, events.trace_id, events.owner_tid
    FROM processes
    JOIN events ON events.process_id = processes.id
    WHERE processes.run_id = run.id AND events.kind IN ('mutex', 'rwlock', 'read', 'spin', 'own')
),
-- The locks that may be convoys, each by its first wait.
asked AS (
    SELECT process_id, address, min(id) AS first_id, max(duration_ns) AS longest_ns
    FROM wait
    GROUP BY process_id, address
    HAVING count(*) >= (SELECT convoy_count FROM rule)
       AND coalesce(round(100.0 * sum(duration_ns) / nullif(run.duration_ns, 0)), 100) >= (SELECT convoy_time_percent FROM rule)
),
-- How many wait, with itself, when a wait begins. Those that end at that moment wait no more: at each time ends come first. Few columns of
-- integers, because all waits are sorted by them.
queue AS (
    SELECT first_id, change, duration_ns, sum(change) OVER (PARTITION BY first_id ORDER BY at ROWS UNBOUNDED PRECEDING) AS waiters
    FROM (SELECT asked.first_id, side.column1 AS change, iif(side.column1 = 1, wait.duration_ns, 0) AS duration_ns,
                 iif(side.column1 = 1, 2 * wait.start_ns + 1, 2 * wait.end_ns) AS at
          FROM wait
          JOIN asked ON asked.process_id = wait.process_id AND asked.address = wait.address
          CROSS JOIN (VALUES (1), (-1)) AS side)
),
convoy AS (
    SELECT first_id, sum(change = 1) AS count, sum(duration_ns) AS time_ns,
           CAST(round(100.0 * sum(change = 1 AND waiters >= rule.convoy_waiters) / sum(change = 1)) AS INTEGER) AS behind_percent,
           CAST(round(100.0 * sum(duration_ns) / nullif(run.duration_ns, 0)) AS INTEGER) AS time_percent,
           max(waiters) AS most_waiters
    FROM queue
    CROSS JOIN rule
    GROUP BY first_id, rule.convoy_waiters
),
-- Who had lock A (`outer`) and asked for lock B: seen by who waited for A at the same time, or by the hold of A.
nested AS (
    SELECT held.process_id, held.object_id AS outer_id, held.address AS outer_address, inside.object_id AS inner_id,
           inside.address AS inner_address, inside.trace_id, inside.id, inside.duration_ns
    FROM wait AS held
    JOIN events AS inside
        ON inside.process_id = held.process_id AND inside.tid = held.owner_tid AND inside.start_ns < held.end_ns
       AND inside.start_ns >= coalesce((SELECT max(before.start_ns)
                                       FROM events AS before
                                       WHERE before.process_id = held.process_id AND before.tid = held.owner_tid
                                         AND before.start_ns <= held.start_ns
                                         AND before.kind IN ('mutex', 'rwlock', 'read', 'spin', 'own')), 0)
    WHERE held.owner_tid IS NOT NULL AND inside.kind IN ('mutex', 'rwlock', 'read', 'spin', 'own') AND inside.address <> held.address
      AND inside.start_ns + inside.duration_ns > held.start_ns
      -- The owner may give the lock to another thread, and go on, before the wait is over.
      AND NOT EXISTS (SELECT 1
                      FROM events AS released
                      WHERE released.process_id = held.process_id AND released.address = held.address AND released.kind = 'release'
                        AND released.start_ns BETWEEN held.start_ns AND inside.start_ns AND released.tid = held.owner_tid)
    UNION
    SELECT held.process_id, held.object_id, held.address, inside.object_id, inside.address, inside.trace_id, inside.id,
           iif(inside.kind = 'hold', 0, inside.duration_ns)
    FROM processes
    JOIN events AS held ON held.process_id = processes.id AND held.kind = 'hold'
    JOIN events AS inside
        ON inside.process_id = held.process_id AND inside.tid = held.tid AND inside.start_ns > held.start_ns
       AND inside.start_ns < held.start_ns + held.duration_ns
    WHERE processes.run_id = run.id AND inside.kind IN ('mutex', 'rwlock', 'read', 'spin', 'own', 'hold') AND inside.address <> held.address
),
-- Pairs of locks in both orders, from the one with the lower address.
inversion AS (
    SELECT max(iif(is_back, inner_id, outer_id)) AS object_id, max(iif(is_back, outer_id, inner_id)) AS other_id,
           max(iif(is_back, NULL, trace_id)) AS trace_id, max(iif(is_back, trace_id, NULL)) AS back_trace_id,
           sum(NOT is_back) AS count, sum(is_back) AS back_count, sum(duration_ns) AS time_ns
    FROM (SELECT *, outer_address > inner_address AS is_back FROM nested)
    GROUP BY process_id, min(outer_address, inner_address), max(outer_address, inner_address)
    HAVING max(is_back) AND NOT min(is_back)
),
-- Who had the lock was blocked itself while others waited for it.
blocked AS (
    SELECT held.object_id, held.address, held.process_id, inside.trace_id, held.trace_id AS waiter_trace_id, held.id,
           min(held.end_ns, inside.start_ns + inside.duration_ns) - max(held.start_ns, inside.start_ns) AS time_ns
    FROM wait AS held
    -- By the index of such events alone: from the last one that began before the wait.
    JOIN events AS inside
        ON inside.process_id = held.process_id AND inside.tid = held.owner_tid AND inside.start_ns < held.end_ns
       AND inside.start_ns >= coalesce((SELECT before.start_ns
                                       FROM events AS before
                                       WHERE before.process_id = held.process_id AND before.tid = held.owner_tid
                                         AND before.start_ns <= held.start_ns AND before.kind IN ('sleep', 'syscall')
                                       ORDER BY before.start_ns DESC
                                       LIMIT 1), held.start_ns)
    WHERE held.owner_tid IS NOT NULL AND inside.kind IN ('sleep', 'syscall')
      AND inside.start_ns + inside.duration_ns > held.start_ns
      -- As above.
      AND NOT EXISTS (SELECT 1
                      FROM events AS released
                      WHERE released.process_id = held.process_id AND released.address = held.address AND released.kind = 'release'
                        AND released.start_ns BETWEEN held.start_ns AND inside.start_ns AND released.tid = held.owner_tid)
),
blocking AS (
    SELECT max(object_id) AS object_id, trace_id, max(waiter_trace_id) AS waiter_trace_id, count(DISTINCT id) AS count, sum(time_ns) AS time_ns,
           CAST(round(100.0 * sum(time_ns) / nullif(run.duration_ns, 0)) AS INTEGER) AS time_percent
    FROM blocked
    GROUP BY process_id, address, trace_id
),
region AS (
    SELECT latency.object_id, latency.count, latency.p50_ns, latency.p99_ns, latency.max_ns, latency.slowest_id, events.trace_id,
           -- In the longest one: the time off the CPU, and the stack of the longest such event.
           coalesce((SELECT sum(inside.duration_ns)
                     FROM events AS inside
                     WHERE inside.process_id = events.process_id AND inside.tid = events.tid
                       AND inside.start_ns BETWEEN events.start_ns AND events.start_ns + events.duration_ns
                       AND inside.kind IN (SELECT kind FROM event_kinds WHERE class IN ('wait', 'io', 'sleep'))), 0) AS off_ns,
           coalesce((SELECT inside.trace_id
                     FROM events AS inside
                     WHERE inside.process_id = events.process_id AND inside.tid = events.tid
                       AND inside.start_ns BETWEEN events.start_ns AND events.start_ns + events.duration_ns
                       AND inside.kind IN (SELECT kind FROM event_kinds WHERE class IN ('wait', 'io', 'sleep'))
                     ORDER BY inside.duration_ns DESC, inside.id
                     LIMIT 1), 0) AS off_trace_id
    FROM region_latency AS latency
    JOIN events ON events.id = latency.slowest_id
    WHERE latency.run_id = run.id
)
SELECT '{' || group_concat(found) || '}'
FROM (
    SELECT printf('"%-20s%-10s%20d%20d%20d%20d%20d%20d":{"count":%d,"time_ns":%d,"behind_percent":%d,"time_percent":%s,"most_waiters":%d}',
                  'convoy', advice.severity, events.object_id, 0, events.trace_id, 0, time_ns, count, count, time_ns, behind_percent, coalesce(time_percent, 'null'), most_waiters) AS found
    FROM convoy
    JOIN asked ON asked.first_id = convoy.first_id
    JOIN events
        ON events.process_id = asked.process_id
       AND events.id = (SELECT min(longest.id)
                        FROM events AS longest
                        WHERE longest.process_id = asked.process_id AND longest.address = asked.address
                          AND longest.duration_ns = asked.longest_ns AND longest.kind IN ('mutex', 'rwlock', 'read', 'spin', 'own'))
    CROSS JOIN rule
    LEFT JOIN advice ON advice.code = 'trace-convoy'
    WHERE behind_percent >= rule.convoy_percent
    UNION ALL
    SELECT printf('"%-20s%-10s%20d%20d%20d%20d%20d%20d":{"count":%d,"back_count":%d,"time_ns":%d}', 'inversion', advice.severity, object_id,
                  other_id, trace_id, back_trace_id, time_ns, count + back_count, count, back_count, time_ns)
    FROM inversion
    LEFT JOIN advice ON advice.code = 'trace-inversion'
    UNION ALL
    SELECT printf('"%-20s%-10s%20d%20d%20d%20d%20d%20d":{"count":%d,"time_ns":%d,"time_percent":%s}', 'io-under-lock',
                  iif(coalesce(time_percent, 100) < rule.io_lock_percent, 'note', advice.severity), object_id, 0, trace_id, waiter_trace_id,
                  time_ns, count, count, time_ns, coalesce(time_percent, 'null'))
    FROM blocking
    CROSS JOIN rule
    LEFT JOIN advice ON advice.code = 'trace-io-under-lock'
    WHERE time_ns >= rule.io_lock_ns
    UNION ALL
    SELECT printf('"%-20s%-10s%20d%20d%20d%20d%20d%20d":{"count":%d,"p50_ns":%d,"p99_ns":%d,"max_ns":%d,"off_cpu_ns":%d,"slowest_id":%d}',
                  'long-region', advice.severity, object_id, 0, trace_id, off_trace_id, max_ns, count, count, p50_ns, p99_ns, max_ns, off_ns,
                  slowest_id)
    FROM region
    CROSS JOIN rule
    LEFT JOIN advice ON advice.code = 'trace-long-region'
    WHERE count >= rule.region_count AND max_ns >= rule.region_ratio * p50_ns AND max_ns >= rule.region_ns)
)) AS finding
JOIN objects ON objects.id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN objects AS others ON others.id = CAST(substr(finding.key, 51, 20) AS INTEGER) AND trim(substr(finding.key, 1, 20)) = 'inversion'
JOIN places AS first_places ON first_places.trace_id = CAST(substr(finding.key, 71, 20) AS INTEGER)
JOIN places AS second_places ON second_places.trace_id = CAST(substr(finding.key, 91, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'trace-' || trim(substr(finding.key, 1, 20));
