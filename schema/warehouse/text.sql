-- The text of the table :name with its indexes, or of the view :name with its triggers.
SELECT sql
FROM main.sqlite_schema
WHERE sql IS NOT NULL AND tbl_name = :name COLLATE NOCASE
ORDER BY rowid
