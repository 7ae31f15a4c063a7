-- What the series counted of the heap, by stack and labels: the columns of struct ingest_site. Its allocations are taken from the
-- frees too, so that what is in use stays as in the newest snapshot.
SELECT trace_id, label_set_id, sum(alloc_count), sum(alloc_bytes), sum(alloc_count), sum(alloc_bytes)
FROM series
JOIN sites USING (profile_id)
GROUP BY 1, 2;
