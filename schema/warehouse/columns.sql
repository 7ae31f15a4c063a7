-- The columns of the table or view :name.
SELECT name
FROM pragma_table_info(:name)
ORDER BY cid
