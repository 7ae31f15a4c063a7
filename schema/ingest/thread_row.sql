-- The name of a thread, as of the latest that had this id.
INSERT INTO threads(process_id, tid, name) VALUES (:process, :tid, :name)
ON CONFLICT (process_id, tid) DO UPDATE SET name = excluded.name;
