-- Makes the partitions of one month. ATTACH takes no lock that writers or readers wait for.
CREATE OR REPLACE FUNCTION clear.make_month(month date) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
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
REVOKE ALL ON FUNCTION clear.make_month(date) FROM PUBLIC;

-- The same for a role that may add runs but no tables: of the last three years, of the next month, and of the month of runs that have no time.
-- A month is seven tables, and every query of the store meets them: the others are the owner's to make.
CREATE OR REPLACE FUNCTION clear.add_month(month date) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    first date := date_trunc('month', month)::date;
    here  date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
BEGIN
    IF first NOT BETWEEN here - interval '36 months' AND here + interval '1 month' AND first <> '1970-01-01'
       AND NOT pg_has_role(session_user, current_user, 'MEMBER') THEN
        RAISE EXCEPTION 'the store has no month %, and % may not make it: its owner does, with SELECT clear.make_month(''%'')',
            to_char(first, 'YYYY-MM'), session_user, first USING ERRCODE = 'invalid_parameter_value';
    END IF;
    PERFORM clear.make_month(first);
END
$$;
REVOKE ALL ON FUNCTION clear.add_month(date) FROM PUBLIC;
