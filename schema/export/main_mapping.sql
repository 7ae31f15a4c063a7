-- A row where mapping :id is the main binary of a profile: the first of its mappings, and, of what was recorded, its executable. A
-- window has only those mappings that the ones before it lack, so its first one may be a library.
SELECT 1
FROM profiles
LEFT JOIN processes ON processes.id = profiles.process_id
WHERE profiles.mappings ->> 0 = :id
  AND (profiles.process_id IS NULL
       OR processes.executable = (SELECT filename FROM mappings AS main WHERE main.id = :id))
LIMIT 1;
