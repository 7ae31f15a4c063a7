-- The statements of schema/kinds.c.

-- @block: What waited in the windows of run :run that end after :from and up to :to, for locks (:kind), channels (:also) or
-- other things (:further; both NULL for none), in the columns of `clear export --sql`: Go's mutex and block profiles are these two figures. Shared and exclusive
-- operations are both counted. Where no caller was recorded, the lock or the channel is the only frame. What made nobody
-- wait is left out, as Go leaves it out.
SELECT
    *
FROM (SELECT
          locks.trace_id,
          CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
          objects.name AS "label:object",
          sum(locks.contended + locks.read_contended + locks.timeouts + locks.unfinished) AS "contentions/count",
          sum(locks.wait_ns + locks.read_wait_ns) AS "delay/nanoseconds"
      FROM locks
      JOIN profiles ON profiles.id = locks.profile_id
      JOIN objects ON objects.id = locks.object_id
      WHERE profiles.run_id = :run AND profiles.kind IN (:kind, :also, :further) AND profiles.time_ns > :from AND profiles.time_ns <= :to
      GROUP BY locks.trace_id, locks.object_id
      HAVING sum(locks.contended + locks.read_contended + locks.timeouts + locks.unfinished) > 0 OR sum(locks.wait_ns + locks.read_wait_ns) > 0
      UNION ALL
      SELECT
          0,
          'channel#' || channels.channel,
          objects.name,
          sum(channels.push_blocked + channels.pop_blocked),
          sum(channels.push_blocked_ns + channels.pop_blocked_ns)
      FROM channels
      JOIN profiles ON profiles.id = channels.profile_id
      JOIN objects ON objects.id = channels.object_id
      WHERE profiles.run_id = :run AND profiles.kind IN (:kind, :also, :further) AND profiles.time_ns > :from AND profiles.time_ns <= :to
      GROUP BY channels.channel, channels.object_id
      HAVING sum(channels.push_blocked + channels.pop_blocked) > 0 OR sum(channels.push_blocked_ns + channels.pop_blocked_ns) > 0) AS blocked
ORDER BY
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = blocked.trace_id), blocked.trace_id),
    3,
    2;

-- @channels: The channels of the windows of run :run that end after :from and up to :to, one sample a process and channel, in the columns
-- of `clear export --sql`.
SELECT
    'channel#' || channels.channel AS function,
    CASE WHEN objects.name <> 'channel#' || channels.channel THEN objects.name END AS "label:object",
    nullif(max(channels.capacity), 0) AS "label:capacity", -- pprof reads a label that is 0 and has no unit as none
    sum(channels.pushes) AS "pushes/count",
    sum(channels.pops) AS "pops/count",
    sum(channels.push_blocked) AS "push_blocked/count",
    sum(channels.pop_blocked) AS "pop_blocked/count",
    max(channels.max_depth) AS "max_depth/count"
FROM channels
JOIN profiles ON profiles.id = channels.profile_id
JOIN objects ON objects.id = channels.object_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), channels.channel, channels.object_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    channels.channel,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = channels.object_id), channels.object_id);

-- @fibers: The task sites of the windows of run :run that end after :from and up to :to, one sample a process and site, in the columns of
-- `clear export --sql`. The frame is the place in the source that spawns the fibers, as far as it is known.
SELECT
    CASE WHEN max(task_sites.line) > 0
         THEN printf('%s#%d line %d', coalesce(nullif(max(task_sites.kind), ''), 'task'), site, max(task_sites.line))
         ELSE printf('task#%d', site) END AS function,
    max(task_sites.line) AS line,
    nullif(max(dispatch), '') AS "label:dispatch",
    nullif(max(form), '') AS "label:form",
    sum(spawns) AS "spawns/count",
    sum(runs) AS "runs/count",
    sum(exits) AS "exits/count",
    sum(total_lifetime_ns) AS "lifetime/nanoseconds"
FROM task_sites
JOIN profiles ON profiles.id = task_sites.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), site
ORDER BY coalesce(profiles.process_id, profiles.id), site;

-- @lifetimes: The histograms of blocks of the windows of run :run that end after :from and up to :to, in the columns of `clear export --sql`: a
-- sample is a bucket.
SELECT
    histograms.trace_id,
    CASE histogram WHEN 'size' THEN from_value END AS "label:bytes/bytes",
    CASE histogram WHEN 'lifetime' THEN from_value END AS "label:lifetime/nanoseconds",
    CASE histogram WHEN 'passed' THEN from_value END AS "label:passed/count",
    sum(CASE histogram WHEN 'size' THEN count ELSE 0 END) AS "allocated/count",
    sum(CASE histogram WHEN 'lifetime' THEN count ELSE 0 END) AS "freed/count",
    sum(CASE histogram WHEN 'passed' THEN count ELSE 0 END) AS "freed_same_thread/count"
FROM histograms
JOIN profiles ON profiles.id = histograms.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), histograms.trace_id, histogram, from_value
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = histograms.trace_id), histograms.trace_id),
    histogram,
    from_value;

-- @mvcc: The cell samples of the windows of run :run that end after :from and up to :to, in the columns of `clear export --sql`. Each
-- commit and each retry copies the cell.
SELECT
    cell.trace_id,
    CASE WHEN cell.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    cell.reads AS "reads/count",
    cell.commits AS "commits/count",
    cell.retries AS "retries/count",
    cell.struct_size * (cell.commits + cell.retries) AS "cow_bytes/bytes"
FROM (SELECT coalesce(profiles.process_id, profiles.id) AS place, cells.trace_id, cells.object_id,
             max(cells.struct_size) AS struct_size, sum(cells.reads) AS reads, sum(cells.commits) AS commits,
             sum(cells.retries) AS retries
      FROM cells
      JOIN profiles ON profiles.id = cells.profile_id
      WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
      GROUP BY coalesce(profiles.process_id, -profiles.id), cells.trace_id, cells.object_id, cells.address) AS cell
JOIN objects ON objects.id = cell.object_id
ORDER BY
    cell.place,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = cell.trace_id), cell.trace_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = cell.object_id), cell.object_id);

-- @syscalls: The system calls of the profiles of run :run that end after :from and up to :to, in the columns of `clear export --sql`.
SELECT
    name AS function,
    sum(calls) AS "calls/count",
    sum(errors) AS "errors/count",
    sum(syscalls.time_ns) AS "time/nanoseconds"
FROM syscalls
JOIN profiles ON profiles.id = syscalls.profile_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY name
ORDER BY name;

-- @wait: The samples of waits for what is no lock, of the windows of run :run that end after :from and up to :to, in the columns of
-- `clear export --sql`. Where no caller was recorded, the object itself is the only frame. What nobody waited for is left out.
SELECT
    locks.trace_id,
    CASE WHEN locks.trace_id = 0 THEN objects.name END AS function,
    objects.name AS "label:object",
    locks.kind AS "label:kind",
    sum(locks.contended + locks.timeouts + locks.unfinished) AS "waits/count",
    sum(locks.wait_ns) AS "delay/nanoseconds"
FROM locks
JOIN profiles ON profiles.id = locks.profile_id
JOIN objects ON objects.id = locks.object_id
WHERE profiles.run_id = :run AND profiles.kind = :kind AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), locks.trace_id, locks.object_id, locks.kind
HAVING sum(locks.contended + locks.timeouts + locks.unfinished) > 0 OR sum(locks.wait_ns) > 0
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = locks.trace_id), locks.trace_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = locks.object_id), locks.object_id),
    locks.kind;
