-- The statements of serve/api/resource_objects.c.

-- @cell_objects: The versioned cells of a set of runs, those that copied most first. :spans as in lock_objects.
SELECT
    objects.name,
    objects.identity,
    sum(reads) AS reads,
    sum(commits) AS commits,
    sum(multi_commits) AS multi_commits,
    sum(retries) AS retries,
    sum(update_failures) AS update_failures,
    max(struct_size) AS struct_size,
    sum(struct_size * (commits + retries)) AS cow_bytes
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN cells ON cells.profile_id = profiles.id
JOIN objects ON objects.id = cells.object_id
GROUP BY objects.id
ORDER BY cow_bytes DESC, reads DESC, objects.id

-- @channel_objects: The channels of a set of runs, those that cost most waiting first. :spans as in lock_objects.
SELECT
    objects.name,
    objects.identity,
    sum(push_blocked_ns) AS push_blocked_ns,
    sum(pop_blocked_ns) AS pop_blocked_ns,
    sum(pushes) AS pushes,
    sum(pops) AS pops,
    sum(push_blocked) AS push_blocked,
    sum(pop_blocked) AS pop_blocked,
    max(max_depth) AS max_depth,
    max(capacity) AS capacity
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN channels ON channels.profile_id = profiles.id
JOIN objects ON objects.id = channels.object_id
GROUP BY objects.id
ORDER BY push_blocked_ns + pop_blocked_ns DESC, pushes + pops DESC, objects.id

-- @fiber_sites: The places that start fibers in a set of runs, those with the longest lives first. :spans as in lock_objects.
SELECT
    'site ' || site || iif(max(line) > 0, ', line ' || max(line), '') AS name,
    'site#' || site AS identity,
    max(task_sites.kind) AS kind,
    max(dispatch) AS dispatch,
    max(form) AS form,
    max(line) AS line,
    sum(total_lifetime_ns) AS total_lifetime_ns,
    max(max_lifetime_ns) AS max_lifetime_ns,
    sum(spawns) AS spawns,
    sum(runs) AS runs,
    sum(exits) AS exits
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN task_sites ON task_sites.profile_id = profiles.id
GROUP BY site
ORDER BY total_lifetime_ns DESC, site

-- @lock_objects: The locks of a set of runs, those that cost most waiting first. :spans is a JSON array of [run, from, to]: the windows of that run that end
-- after from and up to to, in ns since the epoch. :kind is lock, or wait for what is waited for that is no lock.
SELECT
    objects.name,
    objects.identity,
    min(locks.kind) AS kind,
    sum(wait_ns + read_wait_ns) AS wait_ns,
    max(max(max_wait_ns, read_max_wait_ns)) AS max_wait_ns,
    sum(hold_ns) AS hold_ns,
    max(max_hold_ns) AS max_hold_ns,
    sum(acquires + read_acquires) AS acquires,
    sum(contended + read_contended) AS contended,
    sum(read_acquires) AS read_acquires,
    sum(read_wait_ns) AS read_wait_ns,
    sum(timeouts) AS timeouts,
    sum(unfinished) AS unfinished,
    sum(failed_tries) AS failed_tries,
    sum(condition_waits) AS condition_waits
FROM json_each(:spans) AS span
JOIN profiles ON profiles.run_id = span.value ->> 0
             AND profiles.time_ns > span.value ->> 1
             AND profiles.time_ns <= span.value ->> 2
JOIN locks ON locks.profile_id = profiles.id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.kind = :kind
GROUP BY objects.id
ORDER BY wait_ns DESC, hold_ns DESC, acquires DESC, objects.id

-- @timeline_events: The :limit longest events of the run :run that touch the time from :start to :end, in ns since its start, and took at most :longest ns; and of
-- a wait who ended it. What took no longer than that began no earlier than that before :start, so that a part of a run is read by the index
-- alone.
WITH found AS (
    SELECT events.id
    FROM processes
    CROSS JOIN threads ON threads.process_id = processes.id
    CROSS JOIN events ON events.process_id = processes.id AND events.tid = threads.tid
        AND events.start_ns BETWEEN CAST(:start AS INTEGER) - CAST(:longest AS INTEGER) AND CAST(:end AS INTEGER)
    WHERE processes.run_id = :run AND events.start_ns + events.duration_ns >= CAST(:start AS INTEGER) AND events.duration_ns <= CAST(:longest AS INTEGER)
    ORDER BY events.duration_ns DESC, events.id
    LIMIT CAST(:limit AS INTEGER)),
longest AS (SELECT events.* FROM found CROSS JOIN events ON events.id = found.id)
SELECT
    longest.id AS event_id,
    longest.process_id,
    longest.tid,
    longest.start_ns,
    longest.duration_ns,
    longest.kind,
    coalesce(event_kinds.class, iif(longest.duration_ns, 'region', 'mark')) AS class,
    objects.name AS object,
    longest.trace_id,
    places.function,
    longest.owner_tid,
    longest.is_late,
    releases.tid AS released_by,
    releases.start_ns AS released_ns,
    (SELECT function FROM places WHERE places.trace_id = releases.trace_id) AS release_function -- joined, it would be made of all stacks of the file
FROM longest
JOIN objects ON objects.id = longest.object_id
JOIN places ON places.trace_id = longest.trace_id
LEFT JOIN event_kinds ON event_kinds.kind = longest.kind
LEFT JOIN events AS releases ON releases.id = (SELECT release_id FROM lock_waits WHERE lock_waits.event_id = longest.id)
ORDER BY longest.duration_ns DESC, longest.id

-- @timeline_threads: The threads of the run :run that had events, processes in the order of their start, the events of each in figures, its CPU time by the samples of
-- its profile (NULL: there is none), and how many events of its process are not here (processes.lost_events). Threads are of one group as in the overview. A class
-- is looked up only for what took time, which is less than half of the events.
WITH labelled AS MATERIALIZED (
    SELECT id, (SELECT label.value ->> 1 FROM json_each(labels) AS label WHERE label.value ->> 0 = 'tid') AS tid
    FROM label_sets
    WHERE id IN (SELECT cpu.label_set_id FROM profiles JOIN cpu ON cpu.profile_id = profiles.id WHERE profiles.run_id = :run AND profiles.kind = 'cpu')),
used AS MATERIALIZED (
    SELECT profiles.process_id, labelled.tid, sum(cpu.cpu_ns) AS cpu_ns
    FROM profiles
    JOIN cpu ON cpu.profile_id = profiles.id
    JOIN labelled ON labelled.id = cpu.label_set_id
    WHERE profiles.run_id = :run AND profiles.kind = 'cpu'
    GROUP BY profiles.process_id, labelled.tid)
SELECT
    threads.process_id,
    processes.pid,
    threads.tid,
    threads.name AS thread,
    coalesce(nullif(rtrim(threads.name, '0123456789-_#:/. '), ''), nullif(threads.name, ''), '(no name)') AS of_group,
    count(events.id) AS events,
    coalesce(sum(events.kind = 'cpu'), 0) AS samples,
    coalesce(min(events.start_ns), 0) AS start_ns,
    coalesce(max(events.start_ns + events.duration_ns), 0) AS end_ns,
    coalesce(sum(CASE WHEN events.duration_ns > 0 AND events.kind IN (SELECT kind FROM event_kinds WHERE class = 'wait') THEN events.duration_ns END), 0) AS wait_ns,
    iif(EXISTS (SELECT 1 FROM used), coalesce((SELECT cpu_ns FROM used WHERE used.process_id = threads.process_id AND used.tid = threads.tid), 0), NULL) AS cpu_ns,
    processes.lost_events
FROM processes
CROSS JOIN threads ON threads.process_id = processes.id
LEFT JOIN events ON events.process_id = threads.process_id AND events.tid = threads.tid
WHERE processes.run_id = :run
GROUP BY threads.process_id, threads.tid
ORDER BY threads.process_id, 8, threads.tid

-- @timeline_running: The :limit longest times in which threads of the run :run ran, by their samples of CPU time in the part from :start to :end: a sample says that the
-- thread had a period of CPU time before it, and samples that are no more than two periods apart are of one such time. Columns as in @timeline_events.
WITH period AS MATERIALIZED (
    SELECT coalesce(max(period), 10000000) AS ns FROM profiles WHERE run_id = :run AND kind = 'cpu' AND period_unit = 'nanoseconds'),
samples AS (
    SELECT events.process_id, events.tid, events.start_ns AS at_ns, lag(events.start_ns) OVER of_thread AS before_ns
    FROM processes
    CROSS JOIN threads ON threads.process_id = processes.id
    CROSS JOIN events ON events.process_id = processes.id AND events.tid = threads.tid
        AND events.start_ns BETWEEN CAST(:start AS INTEGER) AND CAST(:end AS INTEGER)
    WHERE processes.run_id = :run AND events.kind = 'cpu'
    WINDOW of_thread AS (PARTITION BY events.process_id, events.tid ORDER BY events.start_ns)),
parts AS (
    SELECT process_id, tid, at_ns,
           sum(before_ns IS NULL OR at_ns - before_ns > 2 * period.ns) OVER (PARTITION BY process_id, tid ORDER BY at_ns ROWS UNBOUNDED PRECEDING) AS part
    FROM samples, period)
SELECT process_id, tid, max(0, min(at_ns) - period.ns) AS start_ns, max(at_ns) - max(0, min(at_ns) - period.ns) AS duration_ns, 'running' AS kind, 'sample' AS class, count(*) AS samples
FROM parts, period
GROUP BY process_id, tid, part
ORDER BY duration_ns DESC, process_id, tid, start_ns
LIMIT CAST(:limit AS INTEGER)

-- @timeline_stacks: What the thread :tid of the process :process of the run :run did from :start to :end, by stack: its waits, sleeps and calls, the :limit longest, and its
-- samples of CPU time, at most :limit, which are every second one, or every third, ..., where there are more. A sample stands for the time before it, up to what the
-- thread did before, at most its share of the periods. `stack` has the functions of a trace, leaf first, in the first row with that trace; NULL in others.
WITH period AS MATERIALIZED (
    SELECT coalesce(max(period), 10000000) AS ns FROM profiles WHERE run_id = :run AND kind = 'cpu' AND period_unit = 'nanoseconds'),
inside AS (
    SELECT events.id, events.start_ns, events.duration_ns, events.kind, event_kinds.class, events.object_id, events.trace_id,
           row_number() OVER (PARTITION BY event_kinds.class = 'sample' ORDER BY iif(event_kinds.class = 'sample', events.start_ns, -events.duration_ns), events.id) AS place,
           count(*) OVER (PARTITION BY event_kinds.class = 'sample') AS in_all
    FROM processes
    CROSS JOIN events ON events.process_id = processes.id AND events.tid = CAST(:tid AS INTEGER)
    JOIN event_kinds ON event_kinds.kind = events.kind AND event_kinds.class IN ('wait', 'io', 'sleep', 'sample')
    CROSS JOIN period
    WHERE processes.run_id = :run AND processes.id = CAST(:process AS INTEGER)
      AND events.start_ns <= CAST(:end AS INTEGER) + iif(event_kinds.class = 'sample', period.ns, 0)
      AND events.start_ns + events.duration_ns >= CAST(:start AS INTEGER)),
found AS (
    SELECT id, start_ns, duration_ns, kind, class, object_id, trace_id, (in_all + CAST(:limit AS INTEGER) - 1) / CAST(:limit AS INTEGER) AS every,
           max(start_ns + duration_ns) OVER (ORDER BY start_ns, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS before_ns,
           row_number() OVER (PARTITION BY trace_id ORDER BY start_ns, id) AS use
    FROM inside
    WHERE iif(class = 'sample', place % ((in_all + CAST(:limit AS INTEGER) - 1) / CAST(:limit AS INTEGER)) = 0, place <= CAST(:limit AS INTEGER)))
SELECT
    iif(found.class = 'sample', max(0, coalesce(before_ns, 0), found.start_ns - every * period.ns), found.start_ns) AS start_ns,
    iif(found.class = 'sample', found.start_ns - max(0, coalesce(before_ns, 0), found.start_ns - every * period.ns), found.duration_ns) AS duration_ns,
    found.kind,
    found.class,
    objects.name AS object,
    found.trace_id,
    iif(use = 1, (SELECT json_group_array(function) FROM (SELECT function FROM frames WHERE frames.trace_id = found.trace_id ORDER BY depth)), NULL) AS stack
FROM found
CROSS JOIN period
JOIN objects ON objects.id = found.object_id
ORDER BY start_ns, found.id

-- @windows: The windows of the kind :kind of the run :run, its processes together, with what happened in each. from_ns and to_ns count from the start
-- of the run. Figures that the kind does not have are NULL; v0 to v7 are the values of another kind, in the order of its sample types.
SELECT
    number AS window,
    min(from_ns) AS from_ns,
    max(to_ns) AS to_ns,
    max(windows.time_ns) AS time_ns,
    iif(:kind = 'heap', coalesce(sum((SELECT sum(alloc_count) FROM sites WHERE sites.profile_id = windows.profile_id)), 0), NULL) AS alloc_count,
    iif(:kind = 'heap', coalesce(sum((SELECT sum(alloc_bytes) FROM sites WHERE sites.profile_id = windows.profile_id)), 0), NULL) AS alloc_bytes,
    iif(:kind = 'heap', coalesce(sum((SELECT sum(free_bytes) FROM sites WHERE sites.profile_id = windows.profile_id)), 0), NULL) AS free_bytes,
    iif(:kind IN ('lock', 'wait'), coalesce(sum((SELECT sum(wait_ns + read_wait_ns) FROM locks WHERE locks.profile_id = windows.profile_id)), 0), NULL) AS wait_ns,
    iif(:kind IN ('lock', 'wait'), coalesce(sum((SELECT sum(acquires + read_acquires) FROM locks WHERE locks.profile_id = windows.profile_id)), 0), NULL) AS acquires,
    iif(:kind = 'channels', coalesce(sum((SELECT sum(pushes) FROM channels WHERE channels.profile_id = windows.profile_id)), 0), NULL) AS pushes,
    iif(:kind = 'mvcc', coalesce(sum((SELECT sum(commits) FROM cells WHERE cells.profile_id = windows.profile_id)), 0), NULL) AS commits,
    iif(:kind IN ('cpu', 'recorder'), coalesce(sum((SELECT sum(cpu_ns) FROM cpu WHERE cpu.profile_id = windows.profile_id)), 0), NULL) AS cpu_ns,
    iif(:kind = 'io', coalesce(sum((SELECT sum(calls) FROM io WHERE io.profile_id = windows.profile_id)), 0), NULL) AS calls,
    iif(:kind = 'io', coalesce(sum((SELECT sum(bytes) FROM io WHERE io.profile_id = windows.profile_id)), 0), NULL) AS bytes,
    iif(:kind = 'io', coalesce(sum((SELECT sum(io.time_ns) FROM io WHERE io.profile_id = windows.profile_id)), 0), NULL) AS call_ns,
    iif(:kind = 'mmap', coalesce(sum((SELECT sum(map_bytes) FROM maps WHERE maps.profile_id = windows.profile_id)), 0), NULL) AS map_bytes,
    iif(:kind = 'mmap', coalesce(sum((SELECT sum(unmap_bytes) FROM maps WHERE maps.profile_id = windows.profile_id)), 0), NULL) AS unmap_bytes,
    iif(:kind = 'spin', coalesce(sum((SELECT sum(yields + short_sleeps + failed_tries) FROM spins WHERE spins.profile_id = windows.profile_id)), 0), NULL) AS spins,
    iif(:kind = 'threads', coalesce(sum((SELECT sum(started) FROM thread_starts WHERE thread_starts.profile_id = windows.profile_id)), 0), NULL) AS started,
    iif(:kind = 'heap-peak', coalesce(sum((SELECT sum(peak_count) FROM heap_peaks WHERE heap_peaks.profile_id = windows.profile_id)), 0), NULL) AS peak_count,
    iif(:kind = 'heap-peak', coalesce(sum((SELECT sum(peak_bytes) FROM heap_peaks WHERE heap_peaks.profile_id = windows.profile_id)), 0), NULL) AS peak_bytes,
    iif(:kind = 'leak', coalesce(sum((SELECT sum(lost_bytes) FROM leaks WHERE leaks.profile_id = windows.profile_id)), 0), NULL) AS lost_bytes,
    iif(:kind = 'leak', coalesce(sum((SELECT sum(indirect_bytes) FROM leaks WHERE leaks.profile_id = windows.profile_id)), 0), NULL) AS indirect_bytes,
    iif(:kind = 'lifetimes', coalesce(sum((SELECT sum(count) FROM histograms WHERE histograms.profile_id = windows.profile_id AND histogram = 'size')), 0), NULL) AS allocated,
    iif(:kind = 'lifetimes', coalesce(sum((SELECT sum(count) FROM histograms WHERE histograms.profile_id = windows.profile_id AND histogram = 'lifetime')), 0), NULL) AS freed,
    iif(:kind = 'lifetimes', coalesce(sum((SELECT sum(count) FROM histograms WHERE histograms.profile_id = windows.profile_id AND histogram = 'passed')), 0), NULL) AS freed_same_thread,
    iif(:kind = 'syscalls', coalesce(sum((SELECT sum(calls) FROM syscalls WHERE syscalls.profile_id = windows.profile_id)), 0), NULL) AS system_calls,
    sum((SELECT sum(v0) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v0,
    sum((SELECT sum(v1) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v1,
    sum((SELECT sum(v2) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v2,
    sum((SELECT sum(v3) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v3,
    sum((SELECT sum(v4) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v4,
    sum((SELECT sum(v5) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v5,
    sum((SELECT sum(v6) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v6,
    sum((SELECT sum(v7) FROM samples WHERE samples.profile_id = windows.profile_id)) AS v7,
    iif(:kind = 'fibers', coalesce(sum((SELECT sum(spawns) FROM task_sites WHERE task_sites.profile_id = windows.profile_id)), 0), NULL) AS spawns,
    sum(windows.dropped) AS dropped,
    sum(windows.truncated) AS truncated
FROM windows
WHERE windows.run_id = :run AND windows.kind = :kind
GROUP BY number
ORDER BY number
