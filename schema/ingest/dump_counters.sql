-- What the recording cost stands with one of the run's profiles: it stays where that one goes.
UPDATE OR REPLACE counters
SET profile_id = :profile
WHERE name GLOB 'recorder.*'
  AND profile_id IN (SELECT id FROM profiles
                     WHERE run_id = :run AND kind = :kind AND id <> :profile
                       AND process_id = :process);
