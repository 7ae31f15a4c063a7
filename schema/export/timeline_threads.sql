-- The threads of a :process and their names.
SELECT tid, name
FROM threads
WHERE process_id = :process
ORDER BY tid;
