-- All that the series counted of locks, as one number that only grows.
SELECT total(contended) + total(wait_ns)
FROM series
JOIN locks USING (profile_id);
