-- What the series counted of locks, by object, address and stack: the columns of struct ingest_lock. Kinds and maxima are no sums.
SELECT object_id, address, trace_id, 0, sum(acquires), sum(contended), sum(wait_ns), 0, sum(hold_ns),
       0, sum(read_acquires), sum(read_contended), sum(read_wait_ns), 0
FROM series
JOIN locks USING (profile_id)
GROUP BY 1, 2, 3;
