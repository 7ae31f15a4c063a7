SELECT id
FROM processes
WHERE run_id = :run AND EXISTS (SELECT 1 FROM events WHERE events.process_id = processes.id)
ORDER BY id
