-- Names of the processes of a run that have events, and of their threads. A row without a thread names a process.
SELECT processes.pid, NULL AS tid, processes.executable AS name
FROM processes
WHERE run_id = :run AND id IN (SELECT process_id FROM events)
UNION ALL
SELECT processes.pid, threads.tid, threads.name
FROM processes
JOIN threads ON threads.process_id = processes.id
WHERE run_id = :run
ORDER BY 1, 2;
