-- Statements that give another connection the thresholds of the configuration: each row is the start and the end of one.
SELECT 'CREATE TEMP TABLE rules AS SELECT * FROM main.rules', ''
WHERE EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = 'rules')
UNION ALL
SELECT 'UPDATE temp.rules SET value = ' || quote(ours.value), ' WHERE name = ' || quote(ours.name)
FROM rules AS ours
JOIN main.rules AS theirs ON theirs.name = ours.name
WHERE theirs.value <> ours.value
