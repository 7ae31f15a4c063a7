INSERT OR REPLACE INTO seals(run_id, definition)
VALUES (:run, :definition)
