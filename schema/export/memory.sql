-- The live bytes of run :run at the moments that are known, from :from up to :to, for its picture: of all processes together, in order.
SELECT
    memory.at_ns,
    memory.run_bytes,
    memory.live_bytes,
    memory.what = 'peak' AS is_peak,
    processes.pid
FROM memory
JOIN processes ON processes.id = memory.process_id
WHERE memory.run_id = :run AND memory.time_ns > :from AND memory.time_ns <= :to
ORDER BY memory.time_ns, memory.process_id, memory.what = 'end', memory.what = 'window';
