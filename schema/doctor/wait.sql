DROP VIEW IF EXISTS doctor_wait;
CREATE VIEW doctor_wait AS
-- Question: which side of a queue made of condition variables or semaphores is too slow, which wakes are in vain, and at which barriers do
--   threads wait for the slowest? And which semaphores and locks of another runtime, such as Mutex of Rust, do threads wait for?
-- Rows: one per run, process and object (condition variable, semaphore, barrier or futex) with a finding; the windows of the process are summed.
-- Columns: those of doctor, and
--   object_id [id]: the condition variable, semaphore, barrier or futex, in objects
--   address [address]: of it in the process
--   mutex_address [address]: of the mutex that its waiters release; 0: not known, as of a semaphore or futex
--   sides [count]: condition variables of that mutex, or semaphores or futexes of one queue, that were waited on
--   side [number]: 1: it is the one for items, or the only one, and nothing says that it is for room; 2: the one for room
--   told_by [text]: of slow-consumer and slow-producer, what says which side it is: names (of the object, or of the functions that
--     wait), units (of a semaphore: whether it began with any), order (of first use, of two) or nothing (no other one was used); NULL: of
--     other codes
--   waits [count]: waits that had to wait, also those that ended at a time limit or with the process
--   wait_ns [ns]: sum of them
--   wait_percent [percent]: that, of the run's duration, a whole number; NULL: the duration is not known
--   timeouts [count]: waits that ended at their time limit
--   broadcasts [count]: wakes of all waiters
--   futile_wakes [count]: threads that were woken and waited again, because what they waited for was not there
--   futile_percent [percent]: that, of the waits, a whole number
--   switch_ns [ns]: what the futile wakes cost, at wait_switch_ns each
--   signals [count]: wakes of one
--   own_wakes [count]: of a futex or semaphore: of the wakes, those by threads that had waited for it before
--   share_percent [percent]: of contended and imbalance: wait_ns, of the thread time of the run as in doctor_lock, a whole number; NULL: not
--     known, and of other codes
-- Thresholds (names are rows of the table rules; the first code that matches wins):
--   contended: a futex or semaphore that is a lock or pool: own_wakes are half of the wakes or more, for who takes a lock also gives it
--     back, while who waits for a queue is woken by others; and wait_ns >= lock_wait_note_ns (1 ms).
--   imbalance: a barrier with waits >= wait_imbalance_count (10) and wait_percent >= wait_queue_percent (10 %).
--   herd: futile_wakes >= wait_herd_count (500), futile_percent >= wait_herd_percent (50 %), and broadcasts.
--   Of the condition variables of one mutex, of the semaphores of one queue (each item takes a unit of the one and gives one to the other:
--   the counts are equal within a tenth), and of the futexes of another runtime (Condvar and channels of Rust) whose waiters wake each other
--   and of which half of the waits or more were woken, the one with the longest waits: waits >= wait_queue_count (100), wait_percent >=
--     wait_queue_percent (10 %), and less than half of the waits ended at a time limit:
--   slow-consumer: it is the one for room, and slow-producer: it is the one for items, by their names (not_full, room, space, produce;
--     not_empty, item, consume, fill; a semaphore counts what it is named after: empty is for room, full for items), else by the
--     functions that wait: push, put, send, enqueue, ... wait for room, pop, get, take, recv, dequeue, ... for items; of Rust's channels also
--     their send and recv above. Else a semaphore that began with units is the one for room: its first use was a wait that took no time. Of
--     others the one for items is the first that the process used: a queue is
--     empty first, so who fills it wakes a reader, or a reader waits, before anybody waits for room. That counts also if only one of the two
--     was waited on, and the functions that wait for it wake the other. The advice says where no name says it (told_by).
-- Severity: that of the advice. A herd is a note if switch_ns is less than wait_herd_time_percent (1 %) of the run's duration.
--   slow-producer is a note where no side waits for room, unless somebody was held up by it: the waits together are no longer than the
--   run, and it is a queue that has a bound (who waits wakes another condition variable too, or there is a semaphore for room), or it is
--   the first thread that waits and names say that it takes items, or, but of semaphores, threads waited for
--   the end of others for wait_queue_percent (10 %) of the run. Other waits may be those of workers without work. It is a note too
--   where several functions wait on the only condition variable, which may be both sides.
--   contended is a note if wait_ns < wait_futex_note_ns (10 ms) or share_percent < lock_warning_percent (1 %), and critical from lock_critical_percent (10 %) on, with
--   lock_critical_waits (10) waits or lock_critical_ns (100 ms), as in doctor_lock. Of a semaphore it is a note below lock_critical_waits (10)
--   waits: one that is held for the life of a thread is how others wait for its end. And of those that python3 makes its locks of
--   (PyThread_allocate_lock): they stand for joins, events and locks, at addresses that are used again and again.
--   imbalance is a note if share_percent < wait_imbalance_percent (20 %), or if the run used wait_imbalance_busy_percent (90 %) of the time
--   of its processors: then the threads waited for those.
-- Measured: a wake in vain takes 5 us and more: two switches and the mutex. The lock of python3's interpreter is a condition variable
--   whose waits end at a time limit.
-- advice: with who waits, and who wakes them, each with the line. Of contended also the calls that read, write, open and close in the functions
--   that wait, behind the line where they do, if they took a tenth of the waits or more: how long the lock is held is not known.
-- Known false positives: a worker that waits for requests on purpose while threads wait for others to end (slow-producer), or whose program does
--   nothing else (slow-producer of the first thread). Threads with equal work on processors that other programs use (imbalance).
SELECT
    run.id AS run_id,
    'wait' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    objects.name AS subject,
    finding.value AS evidence,
    '[' || trim(substr(finding.key, 151))
        || iif(trim(substr(finding.key, 151)) <> '' AND CAST(substr(finding.key, 91, 20) AS INTEGER) <> 0, ',', '')
        || iif(CAST(substr(finding.key, 91, 20) AS INTEGER) <> 0, CAST(substr(finding.key, 91, 20) AS INTEGER), '') || ']' AS trace_ids,
    advice.text
    || coalesce((SELECT ' Here ' || places.function || iif(places.line > 0, printf(' (%s:%d)',
                            substr(places.file, 1 + length(rtrim(places.file, replace(places.file, '/', '')))), places.line), '')
                        || ' waits.'
                 FROM places
                 WHERE trim(substr(finding.key, 151)) <> '' AND places.trace_id = CAST(trim(substr(finding.key, 151)) AS INTEGER)), '')
    || coalesce((SELECT ' ' || places.function || iif(places.line > 0, printf(' (%s:%d)',
                            substr(places.file, 1 + length(rtrim(places.file, replace(places.file, '/', '')))), places.line), '')
                        || ' wakes.'
                 FROM places
                 WHERE CAST(substr(finding.key, 91, 20) AS INTEGER) <> 0 AND trim(substr(finding.key, 1, 20)) <> 'contended'
                   AND places.trace_id = CAST(substr(finding.key, 91, 20) AS INTEGER)), '')
    || CASE (SELECT value FROM json_each(finding.value) WHERE key = 'told_by')
           WHEN 'order' THEN ' No name says which side waits here: the order of first use does, for a queue begins empty. If this one'
                             || ' begins full, it is the other side that is slow.'
           WHEN 'units' THEN ' No name says what the semaphore counts. '
                             || iif(trim(substr(finding.key, 1, 20)) = 'slow-consumer', 'It began with units, so it is room.',
                                    'It began without units, so it is items.')
           WHEN 'nothing' THEN ' No name says which side waits here, and no other condition variable of the queue was used: it may be the'
                               || ' other side that is slow.'
           ELSE '' END
    || iif(trim(substr(finding.key, 1, 20)) = 'contended',
           coalesce((SELECT ' Behind the lines that wait: '
                            || group_concat(work.call || ' in ' || places.function
                                            || iif(places.line > 0, printf(' (%s:%d)',
                                                      substr(places.file, 1 + length(rtrim(places.file, replace(places.file, '/', '')))),
                                                      places.line), ''), '; ')
                            || '. Whether the lock is held there, the source says; if it is, move that out.'
                     FROM (SELECT io.trace_id, io.call, sum(io.time_ns) AS time_ns
                           FROM profiles
                           JOIN io ON io.profile_id = profiles.id
                           WHERE profiles.run_id = run.id AND profiles.kind = 'io'
                           GROUP BY 1, 2) AS work
                     JOIN places ON places.trace_id = work.trace_id
                     WHERE work.time_ns * 10 >= CAST(substr(finding.key, 71, 20) AS INTEGER)
                       AND EXISTS (SELECT 1
                                   FROM json_each((SELECT stack FROM traces WHERE id = work.trace_id)) AS step
                                   JOIN location_lines AS frame ON frame.location_id = step.value
                                   JOIN json_each('[' || trim(substr(finding.key, 151)) || ']') AS waiting
                                   JOIN traces AS waiter ON waiter.id = waiting.value
                                   WHERE waiter.line > 0 AND frame.function_id = waiter.function_id
                                     AND frame.line > waiter.line)), ''), '') AS advice,
    objects.id AS object_id,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS address,
    CAST(substr(finding.key, 111, 20) AS INTEGER) AS mutex_address,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'sides') AS INTEGER) AS sides,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'side') AS INTEGER) AS side,
    (SELECT value FROM json_each(finding.value) WHERE key = 'told_by') AS told_by,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'waits') AS INTEGER) AS waits,
    CAST(substr(finding.key, 71, 20) AS INTEGER) AS wait_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'wait_percent') AS INTEGER) AS wait_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'timeouts') AS INTEGER) AS timeouts,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'broadcasts') AS INTEGER) AS broadcasts,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'futile_wakes') AS INTEGER) AS futile_wakes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'futile_percent') AS INTEGER) AS futile_percent,
    CAST(substr(finding.key, 131, 20) AS INTEGER) AS switch_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'signals') AS INTEGER) AS signals,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'own_wakes') AS INTEGER) AS own_wakes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'share_percent') AS INTEGER) AS share_percent
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'wait_herd_count') AS herd_count,
        max(value) FILTER (WHERE name = 'wait_herd_percent') AS herd_percent,
        max(value) FILTER (WHERE name = 'wait_herd_time_percent') AS herd_time_percent,
        max(value) FILTER (WHERE name = 'wait_switch_ns') AS switch_ns,
        max(value) FILTER (WHERE name = 'wait_queue_count') AS queue_count,
        max(value) FILTER (WHERE name = 'wait_queue_percent') AS queue_percent,
        max(value) FILTER (WHERE name = 'wait_imbalance_count') AS imbalance_count,
        max(value) FILTER (WHERE name = 'wait_imbalance_percent') AS imbalance_percent,
        max(value) FILTER (WHERE name = 'wait_imbalance_busy_percent') AS imbalance_busy_percent,
        max(value) FILTER (WHERE name = 'lock_wait_note_ns') AS lock_note_ns,
        max(value) FILTER (WHERE name = 'wait_futex_note_ns') AS futex_note_ns,
        max(value) FILTER (WHERE name = 'lock_warning_percent') AS lock_warning_percent,
        max(value) FILTER (WHERE name = 'lock_critical_percent') AS lock_critical_percent,
        max(value) FILTER (WHERE name = 'lock_critical_waits') AS lock_critical_waits,
        max(value) FILTER (WHERE name = 'lock_critical_ns') AS lock_critical_ns
    FROM rules
),
-- The stack that used each first without a wait. (No max() of ids: those in a store are negative.)
waking AS MATERIALIZED (
    SELECT process_id, object_id, address, first_trace_id
    FROM (SELECT profiles.process_id, locks.object_id, locks.address, locks.first_trace_id,
                 row_number() OVER (PARTITION BY profiles.process_id, locks.object_id, locks.address ORDER BY profiles.id) AS place
          FROM locks
          JOIN profiles ON profiles.id = locks.profile_id
          WHERE profiles.run_id = run.id AND profiles.kind = 'wait' AND locks.kind <> 'join'
            AND locks.trace_id = 0 AND locks.first_trace_id <> 0) AS used
    WHERE place = 1
),
-- The functions that waited for each; is_minor: less than a tenth of the time, as the other side of a queue with one condition variable.
waiter AS MATERIALIZED (
    SELECT process_id, object_id, address, function_id, 10 * wait_ns < sum(wait_ns) OVER (PARTITION BY process_id, object_id, address) AS is_minor
    FROM (SELECT profiles.process_id, locks.object_id, locks.address, traces.function_id, sum(locks.wait_ns) AS wait_ns
          FROM profiles
          JOIN locks ON locks.profile_id = profiles.id
          JOIN traces ON traces.id = locks.trace_id
          WHERE profiles.run_id = run.id AND profiles.kind = 'wait' AND locks.kind <> 'join'
          GROUP BY profiles.process_id, locks.object_id, locks.address, traces.function_id) AS waits
),
used AS (
    SELECT run.id AS run_id, profiles.process_id, locks.object_id, locks.address, max(locks.mutex_address) AS mutex_address,
           max(CASE WHEN locks.kind = 'sem' AND names.last LIKE '%full%' AND names.last NOT LIKE '%not_full%' THEN 0
                    WHEN locks.kind = 'sem' AND names.last LIKE '%empty%' AND names.last NOT LIKE '%not_empty%' THEN 2
                    WHEN names.last LIKE '%not_empty%' OR names.last LIKE '%notempty%' OR names.last LIKE '%nonempty%'
                         OR names.last LIKE '%item%' OR names.last LIKE '%consume%' OR names.last LIKE '%fill%' THEN 0
                    WHEN names.last LIKE '%not_full%' OR names.last LIKE '%notfull%' OR names.last LIKE '%nonfull%'
                         OR names.last LIKE '%room%' OR names.last LIKE '%space%' OR names.last LIKE '%produce%' THEN 2
                    ELSE 1 END) AS hint, -- what its name says
           sum(contended + timeouts + unfinished) AS waits, sum(wait_ns) AS wait_ns, sum(timeouts) AS timeouts,
           sum(broadcasts) AS broadcasts, sum(futile_wakes) AS futile_wakes, max(locks.kind) AS kind,
           sum(acquires) AS passes, sum(signals) AS signals, sum(own_wakes) AS own_wakes,
           max(locks.kind) <> 'cond' AND sum(own_wakes) > 0 AND 2 * sum(own_wakes) >= sum(signals + broadcasts) AS is_lock,
           sum(woken) AS woken,
           max(waking.first_trace_id) AS waker_trace_id
    FROM locks
    JOIN profiles ON profiles.id = locks.profile_id
    LEFT JOIN waking ON waking.process_id IS profiles.process_id AND waking.object_id = locks.object_id AND waking.address = locks.address
    -- Of program:(anonymous namespace)::has_room it is has_room that says something.
    JOIN (SELECT id, replace(name, rtrim(name, replace(name, ':', '')), '') AS last FROM objects) AS names ON names.id = locks.object_id
    WHERE profiles.run_id = run.id AND profiles.kind = 'wait' AND locks.kind <> 'join'
    GROUP BY profiles.process_id, locks.object_id, locks.address
),
-- A semaphore whose first use without a wait was one of who waits for it, and no post, began with units: it counts room.
condition AS (
    SELECT run_id, process_id, object_id, address, mutex_address, hint, waits, wait_ns, timeouts, broadcasts, futile_wakes, kind, passes,
           signals, own_wakes, is_lock, woken, iif(begins_with_units, NULL, waker_trace_id) AS waker_trace_id, begins_with_units,
           kind = 'futex' AS is_futex
    FROM (SELECT used.*,
                 kind = 'sem' AND EXISTS (SELECT 1
                                          FROM waiter
                                          JOIN traces ON traces.id = used.waker_trace_id
                                          WHERE waiter.process_id IS used.process_id AND waiter.object_id = used.object_id
                                            AND waiter.address = used.address AND waiter.function_id = traces.function_id)
                     AS begins_with_units
          FROM used) AS told
),
-- The two semaphores of a queue: each item takes one from the one and gives one to the other, and one of them is room. (Where none is,
-- threads ask and answer.) Of several the nearest in memory.
semaphore AS (
    SELECT process_id, object_id, address, partner
    FROM (SELECT one.process_id, one.object_id, one.address, other.address AS partner,
                 row_number() OVER (PARTITION BY one.process_id, one.object_id, one.address
                                    ORDER BY abs(one.address - other.address), other.object_id) AS place
          FROM condition AS one
          JOIN condition AS other ON other.process_id IS one.process_id AND other.address <> one.address
          WHERE one.kind = 'sem' AND other.kind = 'sem' AND one.waits > 0 AND NOT one.is_lock AND NOT other.is_lock
            AND (one.begins_with_units OR other.begins_with_units OR one.hint = 2 OR other.hint = 2 OR other.waits = 0)
            AND 10 * abs(one.passes - other.signals) <= one.passes AND 10 * abs(other.passes - one.signals) <= other.passes) AS near
    WHERE place = 1
),
-- With the functions of a channel's library that they were called through: those say whether a thread sends or receives.
named_waiter AS (
    SELECT process_id, object_id, address, function_id FROM waiter WHERE NOT is_minor
    UNION
    SELECT profiles.process_id, locks.object_id, locks.address, frame.function_id
    FROM profiles
    JOIN locks ON locks.profile_id = profiles.id
    JOIN traces ON traces.id = locks.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN location_lines AS frame ON frame.location_id = step.value
    JOIN functions ON functions.id = frame.function_id
    WHERE profiles.run_id = run.id AND profiles.kind = 'wait' AND locks.kind = 'futex'
      AND (functions.name GLOB 'std::sync::mp*' OR functions.name GLOB 'crossbeam_channel::*')
),
-- What the names of these functions say: 0, 1 or 2 as `hint`. A verb is the first or the last word, or one between underscores.
waiting AS (
    SELECT process_id, object_id, address, 1 - max(takes) + max(gives) AS hint
    FROM (SELECT
              named_waiter.process_id, named_waiter.object_id, named_waiter.address,
              CASE WHEN called.last LIKE 'pop%' OR called.last LIKE 'get%' OR called.last LIKE 'take%' OR called.last LIKE 'recv%'
                        OR called.last LIKE 'receive%' OR called.last LIKE 'dequeue%' OR called.last LIKE 'consume%'
                        OR called.last LIKE 'fetch%' OR instr(called.words, '_pop_') > 0 OR instr(called.words, '_get_') > 0
                        OR instr(called.words, '_take_') > 0 OR instr(called.words, '_recv_') > 0 OR instr(called.words, '_dequeue_') > 0
                   THEN 1 ELSE 0 END AS takes,
              CASE WHEN called.last LIKE 'push%' OR called.last LIKE 'put%' OR called.last LIKE 'send%' OR called.last LIKE 'enqueue%'
                        OR called.last LIKE 'produce%' OR called.last LIKE 'offer%' OR called.last LIKE 'submit%'
                        OR called.last LIKE 'append%' OR instr(called.words, '_push_') > 0 OR instr(called.words, '_put_') > 0
                        OR instr(called.words, '_send_') > 0 OR instr(called.words, '_enqueue_') > 0
                   THEN 1 ELSE 0 END AS gives
          FROM named_waiter
          JOIN (SELECT id, replace(name, rtrim(name, replace(name, ':', '')), '') AS last,
                       '_' || lower(replace(name, rtrim(name, replace(name, ':', '')), '')) || '_' AS words
                FROM functions) AS called ON called.id = named_waiter.function_id) AS verbs
    GROUP BY process_id, object_id, address
),
-- The sides of a queue. The kernel does not say which lock the waiters of a futex release: two of them are one queue if who waits for one
-- wakes the other, and the other way round.
queue_of AS (
    SELECT
        condition.*,
        iif(is_futex, coalesce((
            SELECT min(condition.address, other.address)
            FROM condition AS other
            JOIN traces AS other_waker ON other_waker.id = other.waker_trace_id
            JOIN traces AS waker ON waker.id = condition.waker_trace_id
            WHERE other.is_futex AND other.process_id IS condition.process_id AND other.address <> condition.address
              AND EXISTS (SELECT 1
                          FROM waiter
                          WHERE waiter.process_id IS condition.process_id AND waiter.object_id = condition.object_id
                            AND waiter.address = condition.address AND waiter.function_id = other_waker.function_id)
              AND EXISTS (SELECT 1
                          FROM waiter
                          WHERE waiter.process_id IS other.process_id AND waiter.object_id = other.object_id
                            AND waiter.address = other.address AND waiter.function_id = waker.function_id)
            ORDER BY other.object_id, other.address
            LIMIT 1), condition.address),
            iif(condition.kind = 'sem', min(condition.address, coalesce(semaphore.partner, condition.address)), mutex_address))
            AS queue_address,
        semaphore.partner IS NOT NULL AS has_room_side,
        -- The other side, if nobody ever waited for it: who waits here wakes it. Was it used first?
        (SELECT max(other.object_id < condition.object_id)
         FROM condition AS other
         JOIN traces AS other_waker ON other_waker.id = other.waker_trace_id
         JOIN waiter ON waiter.function_id = other_waker.function_id
         WHERE other.waits = 0 AND other.kind = condition.kind AND condition.kind <> 'sem' AND other.process_id IS condition.process_id
           AND waiter.process_id IS condition.process_id AND waiter.object_id = condition.object_id
           AND waiter.address = condition.address) AS is_second
    FROM condition
    LEFT JOIN semaphore ON semaphore.process_id IS condition.process_id AND semaphore.object_id = condition.object_id
                       AND semaphore.address = condition.address
    WHERE waits > 0 AND NOT is_lock AND kind <> 'barrier'
),
side AS (
    SELECT
        condition.*,
        count(*) OVER queue AS sides,
        -- The other side may never have waited: a name that says which one this is counts more than their order.
        CASE said WHEN 0 THEN 1 WHEN 2 THEN max(2, row_number() OVER queue_order)
                  ELSE row_number() OVER queue_order + iif(count(*) OVER queue = 1 AND is_second, 1, 0) END AS side,
        -- Where a name says what one of two is for, it says it of the other one too.
        CASE WHEN min(said) OVER queue = 1 AND max(said) OVER queue = 1
             THEN iif(count(*) OVER queue = 1 AND is_second IS NULL, 'nothing', 'order')
             ELSE iif(is_told_by_units, 'units', 'names') END AS told_by,
        wait_ns = max(wait_ns) OVER queue AS is_longest
    FROM (SELECT queue_of.*,
                 CASE WHEN queue_of.hint <> 1 THEN queue_of.hint
                      WHEN coalesce(waiting.hint, 1) <> 1 THEN waiting.hint
                      WHEN kind = 'sem' THEN iif(begins_with_units, 2, 0)
                      ELSE 1 END AS said,
                 kind = 'sem' AND queue_of.hint = 1 AND coalesce(waiting.hint, 1) = 1 AS is_told_by_units
          FROM queue_of
          LEFT JOIN waiting ON waiting.process_id IS queue_of.process_id AND waiting.object_id = queue_of.object_id
                           AND waiting.address = queue_of.address
          UNION ALL
          SELECT condition.*, condition.address, NULL, NULL, hint, NULL
          FROM condition
          WHERE waits > 0 AND (is_lock OR kind = 'barrier')) AS condition
    WINDOW queue AS (PARTITION BY process_id, kind, is_lock, queue_address),
           queue_order AS (PARTITION BY process_id, kind, is_lock, queue_address ORDER BY said, object_id, address)
),
figure AS (
    SELECT
        side.*,
        CAST(round(100.0 * wait_ns / nullif(runs.duration_ns, 0)) AS INTEGER) AS wait_percent,
        CAST(round(100.0 * futile_wakes / nullif(waits, 0)) AS INTEGER) AS futile_percent,
        CAST(futile_wakes * rule.switch_ns AS INTEGER) AS switch_ns,
        round(100.0 * futile_wakes * rule.switch_ns / nullif(runs.duration_ns, 0)) < rule.herd_time_percent AS is_small_herd,
        sides = 1 AND wait_ns > runs.duration_ns AS is_idle
    FROM side
    CROSS JOIN rule
    JOIN runs ON runs.id = side.run_id
),
judged AS (
    SELECT
        figure.*,
        CASE WHEN is_lock THEN iif(wait_ns >= rule.lock_note_ns, 'contended', 'none')
             WHEN kind = 'barrier' THEN iif(waits >= rule.imbalance_count AND coalesce(wait_percent, 0) >= rule.queue_percent,
                                            'imbalance', 'none')
             WHEN futile_wakes >= rule.herd_count AND futile_percent >= rule.herd_percent AND broadcasts > 0 THEN 'herd'
             WHEN NOT is_longest OR queue_address = 0 OR is_futex AND 2 * woken < waits OR side > 2 OR waits < rule.queue_count OR 2 * timeouts >= waits
                  OR coalesce(wait_percent, 0) < rule.queue_percent THEN 'none'
             WHEN side = 2 THEN 'slow-consumer'
             ELSE 'slow-producer' END AS code
    FROM figure
    CROSS JOIN rule
),
-- Whether somebody was held up, and the stacks that wait, the longest first.
stacked AS (
    SELECT
        judged.*,
        CASE WHEN code IN ('contended', 'imbalance') THEN
            (SELECT CAST(round(100.0 * judged.wait_ns / nullif(max(runs.duration_ns,
                        (SELECT coalesce(sum(thread_ns), 0) FROM processes WHERE processes.run_id = runs.id)
                        - (SELECT coalesce(sum(locks.wait_ns), 0)
                           FROM profiles
                           JOIN locks ON locks.profile_id = profiles.id
                           WHERE profiles.run_id = runs.id AND profiles.kind = 'wait'
                             AND (locks.object_id <> judged.object_id OR locks.address <> judged.address))), 0)) AS INTEGER)
             FROM runs
             WHERE runs.id = judged.run_id) END AS share_percent,
        (SELECT 100.0 * sum(locks.wait_ns) / max(runs.duration_ns)
         FROM profiles
         JOIN locks ON locks.profile_id = profiles.id
         JOIN runs ON runs.id = profiles.run_id
         WHERE profiles.run_id = judged.run_id AND profiles.kind = 'wait' AND profiles.process_id IS judged.process_id
           AND locks.kind = 'join') >= (SELECT queue_percent FROM rule) AS is_joined,
        -- The first thread waits: what it does is what the program does.
        EXISTS (SELECT 1
                FROM profiles
                JOIN locks ON locks.profile_id = profiles.id
                JOIN traces ON traces.id = locks.trace_id
                JOIN json_each(traces.stack) AS step
                JOIN location_lines AS frame ON frame.location_id = step.value
                JOIN functions ON functions.id = frame.function_id
                WHERE profiles.run_id = judged.run_id AND profiles.kind = 'wait' AND profiles.process_id IS judged.process_id
                  AND locks.object_id = judged.object_id AND locks.address = judged.address AND functions.name = 'main') AS is_of_main,
        (SELECT 100 * busy.cpu_ns >= (SELECT imbalance_busy_percent FROM rule) * processors.value * runs.duration_ns
         FROM runs
         JOIN (SELECT max(counters.value) AS value
               FROM profiles
               JOIN counters ON counters.profile_id = profiles.id
               WHERE profiles.run_id = run.id AND counters.name = 'recorder.processors') AS processors
         JOIN (SELECT sum(cpu.cpu_ns) AS cpu_ns
               FROM profiles
               JOIN cpu ON cpu.profile_id = profiles.id
               WHERE profiles.run_id = run.id AND profiles.kind = 'cpu') AS busy
         WHERE runs.id = judged.run_id) AS is_busy,
        coalesce(has_room_side, false) OR judged.kind <> 'sem' AND EXISTS (SELECT 1
                FROM profiles
                JOIN locks ON locks.profile_id = profiles.id
                JOIN traces AS waiter ON waiter.id = locks.trace_id
                JOIN condition AS other ON other.run_id = profiles.run_id AND other.process_id IS profiles.process_id
                                       AND other.kind = judged.kind AND (other.object_id <> locks.object_id OR other.address <> locks.address)
                JOIN traces AS waker ON waker.id = other.waker_trace_id
                WHERE profiles.run_id = judged.run_id AND profiles.kind = 'wait' AND profiles.process_id IS judged.process_id
                  AND locks.object_id = judged.object_id AND locks.address = judged.address
                  AND waker.function_id = waiter.function_id) AS is_bounded,
        (SELECT count(*)
         FROM waiter
         WHERE waiter.process_id IS judged.process_id AND waiter.object_id = judged.object_id
           AND waiter.address = judged.address AND NOT waiter.is_minor) AS waiting_functions,
        coalesce(
            (SELECT group_concat(trace_id) OVER (ORDER BY wait_ns DESC, trace_id
                                                 ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)
             FROM (SELECT locks.trace_id, sum(locks.wait_ns) AS wait_ns
                   FROM profiles
                   JOIN locks ON locks.profile_id = profiles.id
                   WHERE profiles.run_id = judged.run_id AND profiles.kind = 'wait'
                     AND profiles.process_id IS judged.process_id AND locks.object_id = judged.object_id
                     AND locks.address = judged.address AND locks.trace_id <> 0
                   GROUP BY 1)
             LIMIT 1), '') AS waiters
    FROM judged
    WHERE code <> 'none'
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d%20d%20d%20d%20d%s":', stacked.code,
        CASE WHEN stacked.code = 'contended'
             THEN iif(coalesce(share_percent, 0) < rule.lock_warning_percent OR wait_ns < rule.futex_note_ns
                      OR stacked.kind = 'sem'
                         AND (waits < rule.lock_critical_waits
                              OR EXISTS (SELECT 1 FROM objects WHERE objects.id = stacked.object_id AND objects.name LIKE '%PyThread%')),
                      'note',
                      iif(share_percent >= rule.lock_critical_percent
                          AND (waits >= rule.lock_critical_waits OR wait_ns >= rule.lock_critical_ns), 'critical', advice.severity))
             WHEN stacked.code = 'imbalance'
             THEN iif(coalesce(share_percent, 0) < rule.imbalance_percent OR coalesce(is_busy, false), 'note', advice.severity)
             WHEN stacked.code = 'herd' AND is_small_herd OR stacked.code = 'slow-producer' AND sides = 1
                  AND (is_idle OR waiting_functions > 1
                       OR NOT is_bounded AND NOT (is_of_main AND told_by = 'names')
                          AND (stacked.kind = 'sem' OR NOT coalesce(is_joined, false))) THEN 'note'
             ELSE advice.severity END,
        stacked.object_id, stacked.address, wait_ns, waker_trace_id, mutex_address, switch_ns, waiters)
    || printf('{"waits":%d,"wait_ns":%d,"wait_percent":%s,"timeouts":%d,"broadcasts":%d,"futile_wakes":%d,"futile_percent":%d,'
           || '"switch_ns":%d,"sides":%d,"side":%d,"signals":%d,"own_wakes":%d,"share_percent":%s,"told_by":%s}',
           waits, wait_ns, coalesce(wait_percent, 'null'), timeouts, broadcasts, futile_wakes, futile_percent, switch_ns, sides,
           side, signals, own_wakes, coalesce(share_percent, 'null'), iif(stacked.code IN ('slow-consumer', 'slow-producer'), '"' || told_by || '"', 'null')))
    || '}'
FROM stacked
CROSS JOIN (SELECT imbalance_percent, futex_note_ns, lock_warning_percent, lock_critical_percent, lock_critical_waits, lock_critical_ns FROM rule) AS rule
LEFT JOIN advice ON advice.code = 'wait-' || stacked.code
)) AS finding
JOIN objects ON objects.id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'wait-' || trim(substr(finding.key, 1, 20));
