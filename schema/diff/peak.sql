-- The stacks of one run that had blocks live at the peak of their process, the peaks of its processes summed.
SELECT
    heap_peaks.trace_id,
    sum(heap_peaks.peak_bytes) AS peak_bytes
FROM profiles
JOIN heap_peaks ON heap_peaks.profile_id = profiles.id
WHERE profiles.run_id = :run
GROUP BY heap_peaks.trace_id
