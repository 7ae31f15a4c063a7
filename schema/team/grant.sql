-- Two roles: clear_push may add runs and change none, clear_read may read. The functions make the partitions of a new month, and tell the planner what grew.
-- A partition is written through its table alone, whose triggers see what comes.
DO $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'clear_read') THEN
        CREATE ROLE clear_read NOLOGIN;
    END IF;
    IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'clear_push') THEN
        CREATE ROLE clear_push NOLOGIN;
    END IF;
END
$$;
GRANT USAGE ON SCHEMA clear TO clear_read, clear_push;
GRANT SELECT ON ALL TABLES IN SCHEMA clear TO clear_read, clear_push;
REVOKE INSERT ON ALL TABLES IN SCHEMA clear FROM clear_push;
DO $$
DECLARE
    item record;
BEGIN
    FOR item IN
        SELECT relname
        FROM pg_class
        WHERE relnamespace = 'clear'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
          AND relname NOT IN ('meta', 'shards', 'removed', 'wanting', 'run_names')
    LOOP
        EXECUTE format('GRANT INSERT ON clear.%I TO clear_push', item.relname);
    END LOOP;
END
$$;
GRANT INSERT (project, month, run, traces, label_sets, objects) ON clear.run_names TO clear_push;
GRANT USAGE ON SEQUENCE clear.run_number TO clear_push;
GRANT USAGE ON SCHEMA clear_views TO clear_read, clear_push;
GRANT SELECT ON ALL TABLES IN SCHEMA clear_views TO clear_read, clear_push;
GRANT EXECUTE ON FUNCTION clear.add_month(date), clear.analyze_grown() TO clear_push;
