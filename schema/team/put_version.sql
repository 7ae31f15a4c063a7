-- The version of the tables is now $1.
INSERT INTO clear.meta(key, value) VALUES ('version', $1)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
