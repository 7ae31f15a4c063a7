-- What is another for every database of every server that runs.
SELECT pg_postmaster_start_time(), oid
FROM pg_database
WHERE datname = current_database()
