-- The columns of table :table of clear's schema, in order: name, type, place in the primary key from 1, or 0.
SELECT
    name,
    type,
    pk
FROM pragma_table_info(:table)
ORDER BY cid
