-- The tables with rows of runs, run_names first, and their columns as a list of SQL. The number of a run is each store's own.
SELECT relname, string_agg(format('%I', attname), ', ' ORDER BY attnum)
FROM clear.run_tables() AS relname
JOIN pg_attribute ON attrelid = format('clear.%I', relname)::regclass AND attnum > 0 AND NOT attisdropped
WHERE (relname, attname) <> ('run_names', 'number')
GROUP BY relname
ORDER BY relname <> 'run_names', relname
