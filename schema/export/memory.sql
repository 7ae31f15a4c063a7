-- The statements of export/memory.c.

-- @memory: The live bytes of run :run at the moments that are known, from :from up to :to, for its picture: of all processes together, in order.
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

-- @sites: Who had the memory at the peak of the process of run :run that had most, the five places that had most of it.
SELECT
    places.function,
    places.file,
    places.line,
    sum(heap_peaks.peak_bytes) AS bytes
FROM heap_peaks
JOIN places ON places.trace_id = heap_peaks.trace_id
WHERE heap_peaks.profile_id = (SELECT profile_id FROM peaks WHERE run_id = :run ORDER BY peak_bytes DESC, process_id LIMIT 1)
GROUP BY places.function, places.file, places.line
ORDER BY bytes DESC, places.function
LIMIT 5;
