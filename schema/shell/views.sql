-- Statements that give another connection the temporary views of this one, as in rules.sql.
SELECT 'CREATE TEMP VIEW ', substr(sql, length('CREATE VIEW ') + 1)
FROM temp.sqlite_schema
WHERE type = 'view'
