-- The views of the file that are named as diagnoses are, with their texts.
SELECT name, sql
FROM main.sqlite_schema
WHERE type = 'view' AND name LIKE 'doctor!_%' ESCAPE '!'
ORDER BY name
