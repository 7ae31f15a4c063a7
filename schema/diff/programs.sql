-- The executables of one run, of its processes or of an ingested profile, whose first mapping is the main binary.
SELECT executable AS path
FROM processes
WHERE run_id = :run
UNION
SELECT mappings.filename
FROM profiles
JOIN mappings ON mappings.id = profiles.mappings ->> 0
WHERE profiles.run_id = :run AND profiles.process_id IS NULL AND mappings.filename <> ''
