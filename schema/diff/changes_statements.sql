-- The statements of query/diff/changes.c.

-- @cell: The versioned cells of one run, as in lock. cow_bytes: bytes that its writes copied.
SELECT
    iif(cells.trace_id <> 0, cells.trace_id, objects.trace_id) AS trace_id,
    objects.identity,
    objects.name,
    sum(cells.retries) AS retries,
    sum(cells.commits) AS commits,
    sum(cells.reads) AS reads,
    sum(cells.struct_size * (cells.commits + cells.retries)) AS cow_bytes
FROM profiles
JOIN cells ON cells.profile_id = profiles.id
JOIN objects ON objects.id = cells.object_id
WHERE profiles.run_id = :run
GROUP BY cells.object_id, 1

-- @channel: The channels of one run, its processes and windows summed; channels with the same identity are one row.
-- blocked: pushes and pops that had to wait. wait_ns is 0 in dumps, which have no times.
SELECT
    objects.trace_id,
    objects.identity,
    objects.name,
    sum(channels.pushes + channels.pops) AS operations,
    sum(channels.push_blocked + channels.pop_blocked) AS blocked,
    sum(channels.push_blocked_ns + channels.pop_blocked_ns) AS wait_ns,
    sum(channels.push_blocked) AS push_blocked,
    sum(channels.pop_blocked) AS pop_blocked,
    max(channels.max_depth) AS max_depth
FROM profiles
JOIN channels ON channels.profile_id = profiles.id
JOIN objects ON objects.id = channels.object_id
WHERE profiles.run_id = :run
GROUP BY channels.object_id

-- @cpu: The stacks of one run with CPU samples, its processes and windows summed.
SELECT
    cpu.trace_id,
    sum(cpu.cpu_ns) AS cpu_ns,
    sum(cpu.samples) AS samples
FROM profiles
JOIN cpu ON cpu.profile_id = profiles.id
WHERE profiles.run_id = :run
  AND profiles.kind <> 'recorder'
GROUP BY cpu.trace_id

-- @fibers: The number of fibers of one run.
SELECT coalesce(sum(total_fibers), 0) AS fibers
FROM profiles
JOIN fibers ON fibers.profile_id = profiles.id
WHERE profiles.run_id = :run

-- @functions: The functions of a stack, inlined ones too, from the leaf on.
SELECT function, file, module, line
FROM frames
WHERE trace_id = :trace

-- @loss: Losses and sampling of one run.
SELECT code, severity, subject, count
FROM doctor_saturation
WHERE run_id = :run

-- @maps: The stacks of one run that map memory themselves, its processes, windows and uses summed.
SELECT
    maps.trace_id,
    sum(maps.map_bytes) AS map_bytes,
    sum(maps.map_count) AS map_count
FROM profiles
JOIN maps ON maps.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY maps.trace_id

-- @peak: The stacks of one run that had blocks live at the peak of their process, the peaks of its processes summed.
SELECT
    heap_peaks.trace_id,
    sum(heap_peaks.peak_bytes) AS peak_bytes
FROM profiles
JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY heap_peaks.trace_id

-- @place: The signature of the stack :trace, which is the same in another file or build, the function and line that stand for it, and those that
-- were running.
SELECT
    traces.signature,
    iif(places.function = '', '(no stack)', places.function) AS function,
    places.file,
    places.line,
    places.module,
    iif(leaves.function = '', '(no stack)', leaves.function) AS leaf_function,
    leaves.file AS leaf_file,
    leaves.line AS leaf_line,
    leaves.module AS leaf_module
FROM traces
JOIN places ON places.trace_id = traces.id
JOIN leaves ON leaves.trace_id = traces.id
WHERE traces.id = :trace

-- @samples: The stacks of one run in profiles of other kinds (goroutines, folded stacks), with the default value of the profile, or its last
-- value if it names none, as viewers do.
WITH chosen AS (
    SELECT
        profiles.id, profiles.kind,
        coalesce((SELECT max(type.key) FROM json_each(profiles.sample_types) AS type
                  WHERE type.value ->> 0 = profiles.default_type),
                 json_array_length(profiles.sample_types) - 1) AS place,
        profiles.sample_types
    FROM profiles
    WHERE profiles.run_id = :run
)
SELECT
    samples.trace_id,
    chosen.kind || iif(chosen.sample_types ->> place ->> 0 = chosen.kind, '', ' ' || (chosen.sample_types ->> place ->> 0)) ||
        ', ' || (chosen.sample_types ->> place ->> 1) AS what,
    sum(CASE place WHEN 0 THEN v0 WHEN 1 THEN v1 WHEN 2 THEN v2 WHEN 3 THEN v3 WHEN 4 THEN v4 WHEN 5 THEN v5 WHEN 6 THEN v6
                   WHEN 7 THEN v7 ELSE coalesce(more ->> (place - 8), 0) END) AS value
FROM chosen
JOIN samples ON samples.profile_id = chosen.id
GROUP BY 1, 2

-- @sampling: How the heap of one run was sampled: one event in `sample_n`, or by size with a mean of `period` bytes between samples (0: not by size).
SELECT
    coalesce(max(sample_n), 1) AS sample_n,
    coalesce(max(CASE WHEN period_type = 'space' AND period > 1 THEN period END), 0) AS period
FROM profiles
WHERE run_id = :run AND kind = 'heap'

-- @task: The task sites of one run, its processes and windows summed, one row per number. The compiler numbers them in the order of the
-- source: an edit moves lines, but changes the number only if it adds or removes a task above. They have no stacks.
SELECT
    0 AS trace_id,
    'task:' || site AS identity,
    printf('task site %d', site) || iif(max(line) = 0, '', printf(' (%s line %d)', max(task_sites.kind), max(line))) AS name,
    sum(spawns) AS spawns,
    sum(runs) AS runs,
    sum(total_lifetime_ns) AS total_lifetime_ns
FROM profiles
JOIN task_sites ON task_sites.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY site

-- @threads: Whether the peak of one run is exact: each of its processes is known to have had one thread only, and no heap profile is a sample.
SELECT
    count(*) > 0
    AND min(threads_most) = 1
    AND max(threads_most) = 1
    AND NOT EXISTS (
        SELECT 1
        FROM profiles
        WHERE profiles.run_id = :run AND kind = 'heap' AND (sample_n > 1 OR period_type = 'space' AND period > 1)
    ) AS is_exact
FROM processes
WHERE run_id = :run

-- @wait: What the threads of one run waited for that is no lock, its processes and windows summed, one row per identity and stack, as the
-- locks of diff/lock. passes: waits that ended as they should, also those that took no time; waited: all that took time.
SELECT
    iif(locks.trace_id <> 0, locks.trace_id, objects.trace_id) AS trace_id,
    substr(objects.identity, 1, length(objects.identity) - number.length) AS identity,
    substr(objects.name, 1, length(objects.name) - number.length) AS name,
    sum(locks.acquires) AS passes,
    sum(locks.contended + locks.timeouts + locks.unfinished) AS waited,
    sum(locks.wait_ns) AS wait_ns,
    sum(locks.timeouts) AS timeouts,
    sum(locks.unfinished) AS unfinished,
    sum(locks.signals + locks.broadcasts) AS wakes,
    sum(locks.futile_wakes) AS futile_wakes
FROM profiles
JOIN locks ON locks.profile_id = profiles.id
JOIN objects ON objects.id = locks.object_id
JOIN (SELECT id, iif(identity GLOB 'heap:*#*', length(identity) - instr(identity, '#') + 1, 0) AS length
      FROM objects) AS number ON number.id = objects.id
WHERE profiles.run_id = :run AND profiles.kind = 'wait'
GROUP BY 2, 1
