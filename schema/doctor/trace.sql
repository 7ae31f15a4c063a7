DROP VIEW IF EXISTS doctor_trace;
CREATE VIEW doctor_trace AS
-- Question: what do the single events of a run show that sums do not: convoys, locks in two orders, blocking under a lock, slow regions?
-- Rows: of runs with events (clear profile --trace) one per lock of a process (convoy_facts), pair of locks (lock_order_facts), lock and
--   stack that blocked (blocked_lock_facts) and name of a region (region_facts) with a finding.
-- Columns: those of doctor, and
--   object_id [id]: the lock, or the name of the region, in objects
--   other_id [id]: of inversion the other lock, in objects; else NULL
--   count [count]: waits, of inversion in both orders; of long-region how often it was run through
--   time_ns [ns]: sum of those waits; of io-under-lock for how long others waited meanwhile; of long-region the longest
-- Thresholds (names are rows of the table rules):
--   convoy: trace_convoy_count (100) waits, of which trace_convoy_percent (50 %) began as the trace_convoy_waiters-th (3rd) of those that
--     waited then, or later; and the waits together are trace_convoy_time_percent (10 %) of the run's duration.
--   inversion: two locks, each asked for by a thread that had the other one.
--   io-under-lock: who had a lock was in a blocking call, or slept, while others waited for it: together for trace_io_lock_ns (10 ms).
--   long-region: of trace_region_count (100) regions of one name the longest took trace_region_ratio (10) times as long as half of them,
--     and trace_region_ns (10 ms).
-- Severity: that of the advice. io-under-lock is a note below trace_io_lock_percent (1 %) of the run's duration.
-- Known false positives: inversion: both orders under a third lock, or never at one time (start and end of the program). io-under-lock: a
--   lock that is there to let one thread at a time write to a file. long-region: the first run through, which fills a cache.
SELECT
    run.run_id, 'trace' AS section, substr(advice.code, 7) AS code,
    CASE WHEN advice.code = 'trace-io-under-lock' AND round(100.0 * blocked.time_ns / nullif(run.duration_ns, 0))
              < (SELECT value FROM rules WHERE name = 'trace_io_lock_percent') THEN 'note' ELSE advice.severity END AS severity,
    objects.name || coalesce(' and ' || others.name, '') AS subject,
    CASE advice.code
        WHEN 'trace-convoy'
        THEN json_object('count', convoy.count, 'time_ns', convoy.time_ns,
                         'behind_percent', CAST(round(100.0 * coalesce(behind.count, 0) / nullif(convoy.count, 0)) AS BIGINT), 'time_percent',
                         CAST(round(100.0 * convoy.time_ns / nullif(run.duration_ns, 0)) AS BIGINT), 'most_waiters', most_waiters)
        WHEN 'trace-inversion' THEN json_object('count', pair.count, 'back_count', back_count, 'time_ns', pair.time_ns)
        WHEN 'trace-io-under-lock'
        THEN json_object('count', blocked.count, 'time_ns', blocked.time_ns,
                         'time_percent', CAST(round(100.0 * blocked.time_ns / nullif(run.duration_ns, 0)) AS BIGINT))
        ELSE json_object('count', region.count, 'p50_ns', p50_ns, 'p99_ns', p99_ns, 'max_ns', max_ns, 'off_cpu_ns', off_ns, 'slowest_id',
                         (SELECT max(id)
                          FROM events
                          WHERE events.process_id = region.process_id AND events.tid = region.tid AND events.start_ns = region.start_ns
                            AND kind = 'region' AND events.object_id = region.object_id AND duration_ns = max_ns)) END AS evidence,
    '[' || CASE WHEN place.trace_id <> 0 THEN place.trace_id || CASE WHEN other_place.trace_id <> 0 THEN ',' ELSE '' END ELSE '' END
        || CASE WHEN other_place.trace_id <> 0 THEN other_place.trace_id || '' ELSE '' END || ']' AS trace_ids,
    advice.text
    || CASE WHEN place.trace_id <> 0 THEN ' Here ' || place.name
                 || CASE advice.code WHEN 'trace-convoy' THEN ' waits longest.'
                                     WHEN 'trace-inversion' THEN ' asks for ' || others.name || ' under ' || objects.name || '.'
                                     WHEN 'trace-io-under-lock' THEN ' blocks.' ELSE ' is the longest.' END ELSE '' END
    || CASE WHEN other_place.trace_id <> 0 THEN ' ' || other_place.name
                 || CASE advice.code WHEN 'trace-inversion' THEN ' asks for ' || objects.name || ' under ' || others.name || '.'
                                     WHEN 'trace-io-under-lock' THEN ' waits for the lock.'
                                     ELSE ' is what it waited for longest.' END ELSE '' END AS advice,
    objects.id AS object_id, others.id AS other_id,
    coalesce(convoy.count, pair.count + back_count, blocked.count, region.count) AS count,
    coalesce(convoy.time_ns, pair.time_ns, blocked.time_ns, max_ns) AS time_ns
FROM run_facts AS run
JOIN advice ON advice.code IN ('trace-convoy', 'trace-inversion', 'trace-io-under-lock', 'trace-long-region')
LEFT JOIN convoy_facts AS convoy ON convoy.run_id = CASE advice.code WHEN 'trace-convoy' THEN run.run_id END
LEFT JOIN convoy_depth_facts AS behind
    ON behind.run_id = convoy.run_id AND behind.process_id = convoy.process_id AND behind.address = convoy.address
   AND behind.waiters = (SELECT value FROM rules WHERE name = 'trace_convoy_waiters')
LEFT JOIN lock_order_facts AS pair ON pair.run_id = CASE advice.code WHEN 'trace-inversion' THEN run.run_id END
LEFT JOIN blocked_lock_facts AS blocked ON blocked.run_id = CASE advice.code WHEN 'trace-io-under-lock' THEN run.run_id END
LEFT JOIN region_facts AS region ON region.run_id = CASE advice.code WHEN 'trace-long-region' THEN run.run_id END
JOIN objects ON objects.id = coalesce(convoy.object_id, pair.object_id, blocked.object_id, region.object_id)
LEFT JOIN objects AS others ON others.id = pair.other_id
JOIN place_names AS place ON place.trace_id = coalesce(convoy.trace_id, pair.trace_id, blocked.trace_id, region.trace_id)
JOIN place_names AS other_place ON other_place.trace_id = coalesce(pair.back_trace_id, waiter_trace_id, off_trace_id, 0)
WHERE CASE advice.code
          WHEN 'trace-convoy'
          THEN CASE WHEN convoy.count >= (SELECT value FROM rules WHERE name = 'trace_convoy_count')
                         AND round(100.0 * coalesce(behind.count, 0) / nullif(convoy.count, 0))
                             >= (SELECT value FROM rules WHERE name = 'trace_convoy_percent')
                         AND coalesce(round(100.0 * convoy.time_ns / nullif(run.duration_ns, 0)), 100)
                             >= (SELECT value FROM rules WHERE name = 'trace_convoy_time_percent') THEN 1 END
          WHEN 'trace-io-under-lock'
          THEN CASE WHEN blocked.time_ns >= (SELECT value FROM rules WHERE name = 'trace_io_lock_ns') THEN 1 END
          WHEN 'trace-long-region'
          THEN CASE WHEN region.count >= (SELECT value FROM rules WHERE name = 'trace_region_count')
                         AND max_ns >= (SELECT value FROM rules WHERE name = 'trace_region_ratio') * p50_ns
                         AND max_ns >= (SELECT value FROM rules WHERE name = 'trace_region_ns') THEN 1 END
          ELSE 1 END = 1;
