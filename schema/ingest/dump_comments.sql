-- A warning that is about the whole run stays where the profile that it stands with goes.
UPDATE profiles
SET comments = (SELECT json_group_array(value)
                FROM (SELECT value FROM json_each(profiles.comments)
                      UNION ALL
                      SELECT said.value
                      FROM profiles AS gone
                      JOIN json_each(gone.comments) AS said
                      WHERE gone.run_id = :run AND gone.kind = :kind AND gone.id <> :profile
                        AND gone.process_id = :process
                        AND said.value GLOB '# WARNING: * processes could not be recorded*'))
WHERE id = :profile;
