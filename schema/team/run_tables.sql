-- The tables with rows of runs.
CREATE OR REPLACE FUNCTION clear.run_tables() RETURNS SETOF name LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp AS $$
    SELECT relname
    FROM pg_class
    JOIN pg_attribute ON attrelid = pg_class.oid AND attname = 'month' AND NOT attisdropped
    WHERE relnamespace = 'clear'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition AND relname <> 'wanting'
    ORDER BY relname
$$;
