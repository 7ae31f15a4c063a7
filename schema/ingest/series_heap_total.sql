-- All that the series counted of the heap, as one number that only grows.
SELECT total(alloc_count) + total(alloc_bytes)
FROM series
JOIN sites USING (profile_id);
