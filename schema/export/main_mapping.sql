-- Which of the mappings :ids (a JSON array) is the main binary of the oldest profile that has one of them so: the first of its mappings, and, of what was
-- recorded, its executable. A window has only those mappings that the ones before it lack, so its first one may be a library.
SELECT main.id
FROM profiles
CROSS JOIN mappings AS main ON main.id = CAST(profiles.mappings ->> 0 AS INTEGER)
LEFT JOIN processes ON processes.id = profiles.process_id
WHERE main.id IN (SELECT value FROM json_each(:ids))
  AND (profiles.process_id IS NULL OR processes.executable = main.filename)
ORDER BY profiles.id
LIMIT 1;
