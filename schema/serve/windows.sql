-- The windows of the kind :kind of the run :run, its processes together, with what happened in each. from_ns and to_ns count from the start
-- of the run. Figures that the kind does not have are NULL.
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
    iif(:kind = 'fibers', coalesce(sum((SELECT sum(spawns) FROM task_sites WHERE task_sites.profile_id = windows.profile_id)), 0), NULL) AS spawns,
    sum(windows.dropped) AS dropped,
    sum(windows.truncated) AS truncated
FROM windows
WHERE windows.run_id = :run AND windows.kind = :kind
GROUP BY number
ORDER BY number
