-- The columns of table :table that clear's schema has, in order.
SELECT name
FROM pragma_table_info(:table)
ORDER BY cid
