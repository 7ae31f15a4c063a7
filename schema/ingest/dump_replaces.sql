-- What the hooks recorded of :kind in the process that dumped it itself, as profile :profile.
DELETE FROM profiles
WHERE run_id = :run AND kind = :kind AND id <> :profile AND process_id = :process;
