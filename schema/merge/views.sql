-- Views and their texts.
SELECT
    name,
    sql
FROM main.sqlite_schema
WHERE type = 'view'
ORDER BY name
