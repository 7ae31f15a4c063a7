-- The columns of a table or view, in their order.
SELECT name
FROM pragma_table_info(:table)
ORDER BY cid
