-- The session's own path again, and what the roles had of views that are new.
SET LOCAL search_path = pg_catalog, pg_temp;
DO $$
DECLARE
    role text;
BEGIN
    FOR role IN SELECT rolname FROM pg_roles WHERE rolname IN ('clear_read', 'clear_push')
    LOOP
        EXECUTE format('GRANT USAGE ON SCHEMA clear_views TO %I', role);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA clear_views TO %I', role);
    END LOOP;
END
$$;
