-- The views are now those of the hash $1.
INSERT INTO clear.meta(key, value) VALUES ('views_hash', $1)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
