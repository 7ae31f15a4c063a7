-- The hooks' profiles of :kind of the processes that could have written the dump; of all where that is not known ([]).
DELETE FROM profiles
WHERE run_id = :run AND kind = :kind AND id <> :profile
  AND (:processes = '[]' OR process_id IN (SELECT value FROM json_each(:processes)));
