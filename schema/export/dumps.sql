-- The statements of export/dumps.c.

-- @caller_frames: The frames of the callers in locks.txt (:kind lock) or mvcc.txt (:kind mvcc) of run :run: one row an address and inlined function, the
-- innermost first. An address that two modules have has none.
WITH callers(trace_id) AS (
    SELECT locks.trace_id
    FROM profiles
    JOIN locks ON locks.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = :kind
    UNION
    SELECT cells.trace_id
    FROM profiles
    JOIN cells ON cells.profile_id = profiles.id
    WHERE profiles.run_id = :run AND profiles.kind = :kind
), used(location_id, address) AS (
    SELECT DISTINCT locations.id, locations.address
    FROM callers
    JOIN traces ON traces.id = callers.trace_id
    JOIN json_each(traces.stack) AS step
    JOIN locations ON locations.id = step.value
)
SELECT
    printf('0x%x', used.address),
    functions.name,
    functions.system_name,
    functions.filename,
    location_lines.line,
    functions.start_line
FROM used
JOIN location_lines ON location_lines.location_id = used.location_id
JOIN functions ON functions.id = location_lines.function_id
WHERE used.address NOT IN (SELECT address FROM used GROUP BY address HAVING count(*) > 1)
ORDER BY used.address, location_lines.position;

-- @cells_objects: What the cells of run :run are, where more than their address is known: one row an address. An address that two
-- processes had for different cells has none.
SELECT
    printf('0x%x', cells.address),
    'cell',
    max(objects.identity),
    max(objects.name)
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN objects ON objects.id = cells.object_id
WHERE profiles.run_id = :run AND profiles.kind = 'mvcc'
GROUP BY cells.address
HAVING count(DISTINCT cells.object_id) = 1 AND max(objects.identity) NOT GLOB 'address:*'
ORDER BY cells.address;

-- @channels_txt: Lines of channels.txt of run :run: one a process and channel, over the windows that end after :from and up to :to.
SELECT
    channels.channel,
    sum(channels.pushes),
    sum(channels.pops),
    sum(channels.push_blocked),
    sum(channels.pop_blocked),
    max(channels.max_depth),
    max(channels.capacity)
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'channels' AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), channels.channel, channels.object_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    channels.channel,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = channels.object_id), channels.object_id);

-- @dump_header: Headers of the text dumps of run :run, over its profiles of :kind that end after :from and up to :to.
SELECT
    coalesce(max(profiles.sample_n), 1) AS sample_n,
    coalesce(sum(profiles.dropped), 0) AS dropped,
    coalesce(sum(profiles.truncated), 0) AS truncated,
    (SELECT coalesce(sum(sites.alloc_count), 0)
     FROM sites
     JOIN profiles ON profiles.id = sites.profile_id
     WHERE profiles.run_id = :run AND profiles.kind = 'heap' AND profiles.time_ns > :from
       AND profiles.time_ns <= :to) AS total_allocs,
    EXISTS (SELECT 1
            FROM locks
            JOIN profiles ON profiles.id = locks.profile_id
            WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND locks.trace_id <> 0) AS lock_callers,
    -- Allocations that were sampled by size: mean bytes between two of them, else 0.
    coalesce(max(profiles.period) FILTER (WHERE profiles.kind = 'heap' AND profiles.period_type = 'space'
                                                AND profiles.sample_n <= 1), 0) AS sample_bytes
FROM profiles
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to;

-- @locks_objects: What the locks of run :run are, where more than their address is known: one row an address. An address that two
-- processes had for different locks has none.
SELECT
    printf('0x%x', locks.address),
    max(locks.kind),
    max(objects.identity),
    max(objects.name)
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.run_id = :run AND profiles.kind = 'lock'
GROUP BY locks.address
HAVING count(DISTINCT locks.object_id) = 1 AND max(objects.identity) NOT GLOB 'address:*'
ORDER BY locks.address;

-- @locks_txt: Lines of locks.txt of run :run: one a process, lock and caller, because an address means something in its process only; over
-- the windows that end after :from and up to :to.
SELECT
    printf('0x%x', locks.address),
    traces.stack,
    sum(locks.acquires),
    sum(locks.contended),
    sum(locks.wait_ns),
    max(locks.max_wait_ns),
    sum(locks.hold_ns),
    max(locks.max_hold_ns),
    sum(locks.read_acquires),
    sum(locks.read_contended),
    sum(locks.read_wait_ns),
    max(locks.read_max_wait_ns)
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN traces ON traces.id = locks.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'lock' AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), locks.address, locks.object_id, locks.trace_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    locks.address,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = locks.object_id), locks.object_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = locks.trace_id), locks.trace_id);

-- @mvcc_txt: Lines of mvcc.txt of run :run: one a process, cell and caller, because an address means something in its process only; over
-- the windows that end after :from and up to :to.
SELECT
    printf('0x%x', cells.address),
    traces.stack,
    max(cells.struct_size),
    sum(cells.reads),
    sum(cells.commits),
    sum(cells.retries),
    sum(cells.update_failures),
    sum(cells.multi_commits)
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN traces ON traces.id = cells.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'mvcc' AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), cells.address, cells.object_id, cells.trace_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    cells.address,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = cells.object_id), cells.object_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = cells.trace_id), cells.trace_id);

-- @perf_stat_txt: Lines of perf-stat.txt of run :run. What clear says of itself stands beside the first profile of a run, which may be this one.
SELECT counters.name, sum(counters.value), counters.unit
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'counters' AND counters.name NOT GLOB 'recorder.*' AND counters.name NOT GLOB 'process.*'
GROUP BY counters.name, counters.unit
ORDER BY counters.name;

-- @syscalls_total: The last line of syscalls.txt of run :run.
SELECT
    100.0,
    coalesce(sum(syscalls.time_ns), 0) / 1e9,
    coalesce(sum(syscalls.time_ns), 0) / 1000 / max(coalesce(sum(syscalls.calls), 1), 1),
    sum(syscalls.calls),
    sum(syscalls.errors),
    'total'
FROM syscalls
JOIN profiles ON profiles.id = syscalls.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'syscalls';

-- @syscalls_txt: Lines of syscalls.txt of run :run, as strace -c prints them: the most expensive first.
SELECT
    coalesce(100.0 * sum(syscalls.time_ns) / nullif(sum(sum(syscalls.time_ns)) OVER (), 0), 0.0),
    sum(syscalls.time_ns) / 1e9,
    sum(syscalls.time_ns) / 1000 / max(sum(syscalls.calls), 1),
    sum(syscalls.calls),
    sum(syscalls.errors),
    syscalls.name
FROM syscalls
JOIN profiles ON profiles.id = syscalls.profile_id
WHERE profiles.run_id = :run AND profiles.kind = 'syscalls'
GROUP BY syscalls.name
ORDER BY sum(syscalls.time_ns) DESC, sum(syscalls.calls) DESC, syscalls.name;
