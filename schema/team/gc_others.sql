-- Who holds what clear store gc waits for: the oldest of them, with the number of its process, and how many there are.
SELECT usename, pid, to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), count(*) OVER ()
FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database() AND xact_start IS NOT NULL
  AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 4998189
              UNION ALL
              SELECT pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relnamespace = 'clear'::regnamespace)
ORDER BY xact_start
LIMIT 1
