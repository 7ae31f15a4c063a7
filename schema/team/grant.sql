-- Two roles: clear_push may add runs and change none, clear_read may read. The functions make the partitions of a new month, and tell the planner what grew.
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
GRANT INSERT ON ALL TABLES IN SCHEMA clear TO clear_push;
GRANT USAGE ON SEQUENCE clear.run_number TO clear_push;
GRANT USAGE ON SCHEMA clear_views TO clear_read, clear_push;
GRANT SELECT ON ALL TABLES IN SCHEMA clear_views TO clear_read, clear_push;
REVOKE INSERT ON clear.meta, clear.shards FROM clear_push;
GRANT EXECUTE ON FUNCTION clear.add_month(date), clear.analyze_grown() TO clear_push;
