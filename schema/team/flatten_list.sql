-- The tables that have partitions, and are not among those with the names $1 (an array).
SELECT relname
FROM pg_class
WHERE relnamespace = to_regnamespace('clear') AND relkind = 'p' AND relname <> ALL ($1::name[])
ORDER BY relname
