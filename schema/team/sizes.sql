-- What the tables of a store take, with their indexes and partitions: name, bytes, rows as the server estimates them; -1 where it has not
-- counted yet.
SELECT
    parent.relname,
    sum(pg_total_relation_size(part.oid)),
    coalesce(nullif(sum(greatest(part.reltuples, 0)) FILTER (WHERE part.reltuples >= 0), 0),
             CASE WHEN bool_or(part.reltuples < 0 AND pg_relation_size(part.oid) > 0) THEN -1 ELSE 0 END)::bigint
FROM pg_class AS parent
JOIN LATERAL (
    SELECT parent.oid, parent.reltuples
    WHERE parent.relkind = 'r'
    UNION ALL
    SELECT child.oid, child.reltuples
    FROM pg_inherits
    JOIN pg_class AS child ON child.oid = pg_inherits.inhrelid
    WHERE pg_inherits.inhparent = parent.oid) AS part ON true
WHERE parent.relnamespace = 'clear'::regnamespace AND parent.relkind IN ('p', 'r') AND NOT parent.relispartition
GROUP BY parent.relname
ORDER BY 2 DESC, 1
