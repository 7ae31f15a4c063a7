-- The columns of table :table that clear's schema has, in order, with the table that each refers to.
SELECT
    columns.name,
    coalesce((SELECT reference."table" FROM pragma_foreign_key_list(:table) AS reference WHERE reference."from" = columns.name), '')
FROM pragma_table_info(:table) AS columns
ORDER BY columns.cid
