-- The counters of a run over time, for a trace file: a name, a unit (as TrackDescriptor.counter has it: 1 ns, 2 count, 3 bytes), and values
-- that count from at_ns on. Of what is summed up in a window it is the sum, from the start of the window; after the last window it is 0.
SELECT process_id, 'live bytes' AS name, 3 AS unit, at_ns, live_bytes AS value
FROM memory
WHERE run_id = :run
UNION ALL
SELECT windows.process_id, 'waits in the window', 2, windows.from_ns, sum(locks.contended + locks.read_contended)
FROM windows
JOIN locks ON locks.profile_id = windows.profile_id
WHERE windows.run_id = :run AND windows.kind IN ('lock', 'wait')
GROUP BY windows.process_id, windows.from_ns
UNION ALL
SELECT windows.process_id, 'wait time in the window', 1, windows.from_ns, sum(locks.wait_ns + locks.read_wait_ns)
FROM windows
JOIN locks ON locks.profile_id = windows.profile_id
WHERE windows.run_id = :run AND windows.kind IN ('lock', 'wait')
GROUP BY windows.process_id, windows.from_ns
ORDER BY 1, 2, 4;
