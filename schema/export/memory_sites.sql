-- Who had the memory at the peak of the process of run :run that had most, the five places that had most of it.
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
