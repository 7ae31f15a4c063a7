-- Begins to delete. Who pushes waits, and afterwards knows by `swept` that names may be gone. No one waits long for us where somebody else
-- holds the tables.
BEGIN;
SET LOCAL lock_timeout = '60s';
SELECT pg_advisory_xact_lock(4998189, 2);
INSERT INTO clear.meta(key, value) VALUES ('swept', '1')
ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + 1
