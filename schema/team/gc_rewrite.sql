-- The partitions of months of which a tenth of the runs was deleted, or more, since they were written: month, table, bytes, runs that stay. Not of
-- this month: new runs take the place of the old ones there.
SELECT to_char(old.month, 'YYYY-MM'), part.relname, pg_total_relation_size(part.oid), old.runs
FROM (SELECT substr(key, 9)::date AS month, value::bigint AS deleted,
             (SELECT count(*) FROM clear.run_names WHERE month = substr(key, 9)::date) AS runs
      FROM clear.meta
      WHERE key LIKE 'deleted %') AS old
JOIN pg_class AS parent ON parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
JOIN pg_class AS part ON part.relnamespace = parent.relnamespace AND part.relname = parent.relname || '_' || to_char(old.month, 'YYYYMM')
WHERE old.deleted * 10 >= old.deleted + old.runs AND old.month < date_trunc('month', now() AT TIME ZONE 'UTC')
ORDER BY 1, 2
