-- Makes the partitions of one month, for a role that may add runs but no tables. ATTACH takes no lock that writers or readers wait for.
CREATE OR REPLACE FUNCTION clear.add_month(month date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first  date := date_trunc('month', month)::date;
    parent record;
    part   text;
BEGIN
    PERFORM pg_advisory_xact_lock(4998189, 1);
    FOR parent IN
        SELECT c.relname
        FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE n.nspname = 'clear' AND c.relkind = 'p'
        ORDER BY c.relname
    LOOP
        part := parent.relname || '_' || to_char(first, 'YYYYMM');
        CONTINUE WHEN to_regclass(format('clear.%I', part)) IS NOT NULL;
        EXECUTE format('CREATE TABLE clear.%I (LIKE clear.%I INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', part, parent.relname);
        EXECUTE format('ALTER TABLE clear.%I ATTACH PARTITION clear.%I FOR VALUES FROM (%L) TO (%L)',
                       parent.relname, part, first, (first + interval '1 month')::date);
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION clear.add_month(date) FROM PUBLIC;
