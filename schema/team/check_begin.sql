-- Begins to repair: as clear store gc, which deletes names too, but it waits for who pushes, up to a minute.
BEGIN;
SELECT pg_advisory_xact_lock(4998189, 4);
SELECT pg_advisory_xact_lock(4998189, 2);
INSERT INTO clear.meta(key, value) VALUES ('swept', '1')
ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + 1
