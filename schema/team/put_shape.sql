-- The store is now made of what has the sum $1.
INSERT INTO clear.meta(key, value) VALUES ('shape', $1)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
