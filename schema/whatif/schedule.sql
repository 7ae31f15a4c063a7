-- The statements of query/whatif/schedule.c.

-- @lock: The lock :name of run :run, or a local variable of that name, that threads waited for longest: its process and address, how many waits of how much time are events, how much
-- time the run's figures have, and how many locks have that name.
SELECT
    processes.id AS process_id,
    events.address,
    count(*) AS waits,
    sum(events.duration_ns) AS wait_ns,
    (SELECT sum(facts.wait_ns)
     FROM lock_facts AS facts
     WHERE facts.run_id = :run AND facts.object_id = events.object_id AND facts.address = events.address) AS figure_ns,
    (SELECT count(*)
     FROM lock_facts AS facts
     JOIN objects AS named ON named.id = facts.object_id
     WHERE facts.run_id = :run AND :name IN (named.name, substr(named.name, 1, instr(named.name, ' (local of ') - 1))) AS locks
FROM processes
JOIN events ON events.process_id = processes.id
JOIN objects ON objects.id = events.object_id
WHERE processes.run_id = :run AND :name IN (objects.name, substr(objects.name, 1, instr(objects.name, ' (local of ') - 1))
  AND events.kind IN ('mutex', 'rwlock', 'read', 'spin', 'own')
GROUP BY processes.id, events.object_id, events.address
ORDER BY wait_ns DESC
LIMIT 1;

-- @longest: The lock of run :run that threads waited for longest, by its figures.
SELECT objects.name
FROM lock_facts
JOIN objects ON objects.id = lock_facts.object_id
WHERE lock_facts.run_id = :run AND lock_facts.wait_ns > 0
ORDER BY lock_facts.wait_ns DESC, objects.name
LIMIT 1;

-- @process: The process :process: its first thread, its start and end since the start of the run, and the events that it lost; so many processors that none is missed where their number is unknown. The end of the
-- first process of a run is known, that of others by the flush that found it gone.
SELECT
    processes.pid,
    processes.started_ns - runs.started_ns AS start_ns,
    CASE WHEN processes.id = (SELECT min(id) FROM processes AS other WHERE other.run_id = runs.id) AND runs.duration_ns > 0
         THEN processes.started_ns - runs.started_ns + runs.duration_ns
         ELSE coalesce(processes.ended_ns - runs.started_ns, 0) END AS end_ns,
    processes.lost_events,
    coalesce(run_facts.processors, 1000000) AS processors,
    coalesce(run_facts.cpu_ns, -1) AS cpu_ns
FROM processes
JOIN runs ON runs.id = processes.run_id
LEFT JOIN run_facts ON run_facts.run_id = runs.id
WHERE processes.id = :process;

-- @cpu: How much CPU time the thread :tid of the process :process had, by its samples; NULL where none are of any thread.
SELECT CASE WHEN count(*) > 0
            THEN coalesce(sum(cpu_ns) FILTER (WHERE (SELECT label.value ->> 1 FROM json_each(labels) AS label WHERE label.value ->> 0 = 'tid') = :tid), 0) END
           AS cpu_ns
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
JOIN label_sets ON label_sets.id = cpu.label_set_id
WHERE profiles.process_id = :process AND profiles.kind = 'cpu';

-- @events: What the threads of the process :process waited for and held, thread by thread in the order of time.
SELECT tid, start_ns, duration_ns, kind, address, coalesce(owner_tid, 0) AS owner_tid, class
FROM events
JOIN event_kinds USING (kind)
WHERE process_id = :process AND (class IN ('wait', 'hold', 'sleep', 'io') OR kind IN ('birth', 'death'))
ORDER BY tid, start_ns, events.id
