-- A warning about run :run, with its first profile, where doctor finds it.
UPDATE profiles
SET comments = json_insert(comments, '$[#]', :text)
WHERE id = (SELECT min(id) FROM profiles WHERE run_id = :run);
