DROP VIEW IF EXISTS run_summary;
CREATE VIEW run_summary AS
-- Question: which runs are in this file, and what did each cost? One row a run, its processes summed.
-- started: UTC, ISO 8601, whole seconds; started_ns: the same, ns since the epoch. duration_ns: nanoseconds.
-- exit: 'exit 0', 'signal 9', or '' while it runs and for an ingested artefact.
-- alloc_*, inuse_*: blocks and bytes as requested; inuse_* is what was live at the end. lock_*: exclusive and shared
--   operations, lock_wait_ns nanoseconds. cpu_ns: processor time sampled.
-- Profiles of unlike period (Go's 512 KiB with the 2 MiB of C++) are added with the values as given, not scaled by the
--   period: a sampled profile's values are estimates of all events already. profiles.period has each one's.
-- dropped: events that could not be recorded; truncated: stacks that were cut.
-- sample_n: every Nth event was recorded; sample_bytes: allocations were sampled by size, one in that many bytes on average. 1 is exact.
SELECT
    runs.id AS run_id,
    runs.uuid,
    runs.label,
    runs.command,
    runs.source,
    strftime('%Y-%m-%dT%H:%M:%SZ', runs.started_ns / 1000000000, 'unixepoch') AS started,
    runs.started_ns,
    runs.duration_ns,
    CASE WHEN runs.exit_signal IS NOT NULL THEN printf('signal %d', runs.exit_signal)
         WHEN runs.exit_status IS NOT NULL THEN printf('exit %d', runs.exit_status)
         ELSE '' END AS exit,
    runs.exit_status,
    runs.exit_signal,
    (SELECT count(*) FROM processes WHERE processes.run_id = runs.id) AS processes,
    coalesce(heap.alloc_count, 0) AS alloc_count,
    coalesce(heap.alloc_bytes, 0) AS alloc_bytes,
    coalesce(heap.inuse_count, 0) AS inuse_count,
    coalesce(heap.inuse_bytes, 0) AS inuse_bytes,
    coalesce(lock.acquires, 0) AS lock_acquires,
    coalesce(lock.contended, 0) AS lock_contended,
    coalesce(lock.wait_ns, 0) AS lock_wait_ns,
    coalesce(processor.cpu_ns, 0) AS cpu_ns,
    coalesce(loss.dropped, 0) AS dropped,
    coalesce(loss.truncated, 0) AS truncated,
    max(runs.sample_n, coalesce(loss.sample_n, 1)) AS sample_n,
    max(coalesce(loss.sample_bytes, 1), 1) AS sample_bytes,
    runs.flags
FROM runs
-- Inner joins with one row for every run: so that a condition on run_id reaches into each sum.
-- Of the tables and not of the view sites: SQLite 3.40 makes all of a view that is itself a join before it left-joins it.
JOIN (SELECT runs.id AS run_id, sum(alloc_count) AS alloc_count,
             sum(coalesce(alloc_bytes, alloc_count * block_bytes)) AS alloc_bytes,
             sum(alloc_count - free_count) AS inuse_count,
             sum(coalesce(alloc_bytes, alloc_count * block_bytes)
                 - coalesce(free_bytes, free_count * block_bytes)) AS inuse_bytes
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      LEFT JOIN site_rows ON site_rows.profile_id = profiles.id
      LEFT JOIN site_keys ON site_keys.id = site_rows.site_key_id
      GROUP BY runs.id) AS heap ON heap.run_id = runs.id
JOIN (SELECT runs.id AS run_id, sum(acquires + read_acquires) AS acquires,
             sum(contended + read_contended) AS contended, sum(wait_ns + read_wait_ns) AS wait_ns
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      LEFT JOIN locks ON locks.profile_id = profiles.id
      GROUP BY runs.id) AS lock ON lock.run_id = runs.id
JOIN (SELECT runs.id AS run_id, sum(cpu_ns) AS cpu_ns
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      LEFT JOIN cpu ON cpu.profile_id = profiles.id
      GROUP BY runs.id) AS processor ON processor.run_id = runs.id
JOIN (SELECT runs.id AS run_id, sum(dropped) AS dropped, sum(truncated) AS truncated,
             max(profiles.sample_n) AS sample_n,
             max(profiles.period) FILTER (WHERE profiles.kind = 'heap' AND profiles.period_type = 'space'
                                                AND profiles.sample_n <= 1) AS sample_bytes
      FROM runs
      LEFT JOIN profiles ON profiles.run_id = runs.id
      GROUP BY runs.id) AS loss ON loss.run_id = runs.id;
