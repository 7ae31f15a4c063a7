-- The tables that are made again, and of which of their columns lists are made: NULL of those that have partitions, and are not among those with
-- the names $1 (an array); of those with the names $2, which have a list for each run, the columns that are none.
SELECT relname, NULL::name[]
FROM pg_class
WHERE relnamespace = to_regnamespace('clear') AND relkind = 'p' AND relname <> ALL ($1::name[])
UNION ALL
SELECT relname, array_agg(attname ORDER BY attnum)
FROM pg_class
JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
WHERE relnamespace = to_regnamespace('clear') AND relkind = 'r' AND relname = ANY ($2::name[])
  AND attname NOT IN ('project', 'month', 'run', 'place') AND atttypid = 'bigint'::regtype
GROUP BY relname
ORDER BY relname
