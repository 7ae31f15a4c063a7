DROP VIEW IF EXISTS doctor_wait;
CREATE VIEW doctor_wait AS
-- Question: which side of a queue made of condition variables or semaphores is too slow, which wakes are in vain, and at which barriers do
--   threads wait for the slowest? Which wakes are lost? And which semaphores and locks of another runtime, such as Mutex of Rust, do threads wait for?
-- Rows: one per row of wait_facts with a finding.
-- Columns: those of doctor, those of wait_facts, and
--   switch_ns [ns]: as in wait_traits
--   share_percent [percent]: thread_percent of contended and imbalance; NULL: of other codes
-- Thresholds (those of the words below stand in the view wait_traits; the first code that matches wins):
--   contended: is_lock, and not brief.
--   imbalance: a barrier of 10 phases or more, with long waits.
--   herd: a herd.
--   lost-wakeup: lost.
--   slow-consumer, slow-producer: the side of its queue that is waited for longest, slow and long; the one for room, or else the one for items.
-- Severity: that of the advice. contended is a note if cheap, few or delayed, for a semaphore that is held for the life of a thread is how others wait
--   for its end, or, of a semaphore, if python3 made it; else critical where it is. imbalance is a note if even, herd if small, lost-wakeup unless long. slow-producer is a note
--   if idle; it, slow-consumer and imbalance if delayed;
--   slow-consumer and slow-producer if nothing tells which of the two it is (ffmpeg's frame threads, those of a stripped garbage collector).
-- Measured: a wake in vain takes 5 us and more: two switches and the mutex. The lock of python3's interpreter waits to time limits.
-- Known false positives: a worker that waits for requests on purpose while threads wait for others to end, or whose program does nothing else
--   (slow-producer). Threads with equal work on processors that other programs use (imbalance).
SELECT
    thing.run_id, 'wait' AS section, substr(advice.code, 6) AS code,
    CASE WHEN advice.code = 'wait-contended' AND (is_cheap OR is_few OR is_delayed OR thing.kind = 'sem' AND is_of_python = 1) THEN 'note'
         WHEN advice.code = 'wait-contended' AND is_critical THEN 'critical'
         WHEN advice.code = 'wait-imbalance' AND is_even THEN 'note'
         WHEN advice.code = 'wait-herd' AND is_small_herd THEN 'note'
         WHEN advice.code = 'wait-lost-wakeup' AND NOT is_long THEN 'note'
         WHEN advice.code = 'wait-slow-producer' AND is_idle THEN 'note'
         WHEN advice.code IN ('wait-slow-producer', 'wait-slow-consumer', 'wait-imbalance') AND is_delayed THEN 'note'
         WHEN advice.code IN ('wait-slow-producer', 'wait-slow-consumer') AND told_by IN ('nothing', 'nameless') THEN 'note'
         ELSE advice.severity END AS severity,
    objects.name AS subject,
    json_object('waits', waits, 'wait_ns', wait_ns, 'wait_percent', wait_percent, 'timeouts', timeouts, 'broadcasts', broadcasts,
                'futile_wakes', futile_wakes, 'futile_percent', futile_percent, 'switch_ns', switch_ns, 'sides', sides, 'side', side,
                'signals', signals, 'own_wakes', own_wakes, 'lost_wakes', lost_wakes,
                'share_percent', CASE WHEN advice.code IN ('wait-contended', 'wait-imbalance') THEN thread_percent END,
                'told_by', CASE WHEN advice.code IN ('wait-slow-consumer', 'wait-slow-producer') THEN told_by END) AS evidence,
    '[' || coalesce((SELECT group_concat(trace_id)
                     FROM (SELECT trace_id
                           FROM wait_caller_facts AS caller
                           WHERE caller.run_id = thing.run_id AND caller.process_id = thing.process_id
                             AND caller.object_id = thing.object_id AND caller.address = thing.address
                           ORDER BY caller.wait_ns DESC, trace_id) AS callers), '')
        || CASE WHEN waiter_trace_id <> 0 AND waker_trace_id <> 0 THEN ',' ELSE '' END
        || CASE WHEN waker_trace_id <> 0 THEN '' || waker_trace_id ELSE '' END || ']' AS trace_ids,
    advice.text || coalesce((SELECT ' Here ' || name || ' waits.' FROM place_names WHERE trace_id = waiter_trace_id AND trace_id <> 0), '')
    || coalesce((SELECT ' ' || name || ' wakes.'
                 FROM place_names
                 WHERE trace_id = waker_trace_id AND trace_id <> 0 AND advice.code <> 'wait-contended'), '')
    || coalesce((SELECT ' Behind the lines that wait: ' || group_concat(work.call || ' in ' || name, '; ')
                        || '. Whether the lock is held there, the source says; if it is, move that out.'
                 FROM wait_work_facts AS work
                 JOIN place_names ON place_names.trace_id = work.trace_id
                 WHERE advice.code = 'wait-contended' AND work.run_id = thing.run_id AND work.process_id = thing.process_id
                   AND work.object_id = thing.object_id AND work.address = thing.address), '')
    || CASE WHEN advice.code NOT IN ('wait-slow-consumer', 'wait-slow-producer') THEN ''
            WHEN told_by = 'order' THEN ' No name says which side waits here: the order of first use does, for a queue begins empty. If this one'
                                        || ' begins full, it is the other side that is slow.'
            WHEN told_by = 'units' AND side = 2 THEN ' No name says what the semaphore counts. It began with units, so it is room.'
            WHEN told_by = 'units' THEN ' No name says what the semaphore counts. It began without units, so it is items.'
            WHEN told_by = 'nothing' THEN ' No name says which side waits here, and no other condition variable of the queue was used: it may be the'
                                          || ' other side that is slow.'
            WHEN told_by = 'nameless' THEN ' No name says which side waits here, for the library is stripped: it may be a thread of its own that has'
                                           || ' no work.'
            ELSE '' END AS advice,
    thing.process_id, thing.object_id, thing.address, thing.kind, mutex_address, waits, wait_ns, wait_percent, thread_percent, timeouts, broadcasts,
    futile_wakes, futile_percent, signals, own_wakes, lost_wakes, woken, is_lock, sides, side,
    CASE WHEN advice.code IN ('wait-slow-consumer', 'wait-slow-producer') THEN told_by END AS told_by,
    is_longest, is_bounded, is_of_main, is_of_python, waiting_functions, join_percent, waiter_trace_id, waker_trace_id, switch_ns,
    CASE WHEN advice.code IN ('wait-contended', 'wait-imbalance') THEN thread_percent END AS share_percent
FROM wait_traits AS thing
JOIN advice
    ON advice.code = CASE WHEN is_lock = 1 THEN CASE WHEN NOT is_brief THEN 'wait-contended' END
                          WHEN thing.kind = 'barrier' THEN CASE WHEN is_phase AND is_long THEN 'wait-imbalance' END
                          WHEN is_herd THEN 'wait-herd'
                          WHEN is_lost THEN 'wait-lost-wakeup'
                          WHEN is_longest = 1 AND side <= 2 AND is_slow AND is_long
                          THEN CASE side WHEN 2 THEN 'wait-slow-consumer' ELSE 'wait-slow-producer' END END
JOIN objects ON objects.id = thing.object_id;
