-- What the store is made of: tables, views, their columns, functions, operators and triggers, as one sum. Partitions come and go. What is not
-- there, as after a restore that left something out, makes it another.
SELECT md5(string_agg(item, E'\n' ORDER BY item COLLATE "C"))
FROM (
    SELECT format('column %s.%s %s %s', relnamespace::regnamespace, relname, relkind, attname)
    FROM pg_class
    LEFT JOIN pg_attribute ON attrelid = pg_class.oid AND attnum > 0 AND NOT attisdropped
    WHERE relnamespace::regnamespace::text IN ('clear', 'clear_rows', 'clear_views') AND relkind IN ('r', 'p', 'v', 'S')
      AND NOT relispartition
    UNION ALL
    SELECT format('index %s', relname)
    FROM pg_class
    WHERE relnamespace::regnamespace::text = 'clear' AND relkind IN ('i', 'I') AND NOT relispartition
    UNION ALL
    SELECT format('function %s.%s %s', pronamespace::regnamespace, proname, md5(prosrc))
    FROM pg_proc
    WHERE pronamespace::regnamespace::text IN ('clear', 'clear_views')
    UNION ALL
    SELECT format('operator %s', oprname)
    FROM pg_operator
    WHERE oprnamespace::regnamespace::text = 'clear_views'
    UNION ALL
    SELECT format('trigger %s %s %s', tgrelid::regclass, tgname, tgenabled)
    FROM pg_trigger
    JOIN pg_class ON pg_class.oid = tgrelid
    WHERE relnamespace::regnamespace::text = 'clear' AND NOT tgisinternal AND NOT relispartition) AS parts(item)
