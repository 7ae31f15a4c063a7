-- The months with runs that are deleted: month, runs that go, runs that stay, bytes of the partitions.
SELECT
    to_char(runs.month, 'YYYY-MM'),
    count(doomed.run),
    count(*) - count(doomed.run),
    (SELECT sum(pg_total_relation_size(part.oid))
     FROM pg_class AS parent
     JOIN pg_inherits ON pg_inherits.inhparent = parent.oid
     JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid
     WHERE parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
       AND part.relname = parent.relname || '_' || to_char(runs.month, 'YYYYMM'))
FROM clear.runs
LEFT JOIN pg_temp.doomed USING (project, month, run)
WHERE runs.month IN (SELECT month FROM pg_temp.doomed)
GROUP BY runs.month
ORDER BY runs.month
