-- The schema of the views, empty. Views of somebody else that read clear's would be lost with them: they are named, and nothing is changed.
DO $$
DECLARE
    others text;
BEGIN
    SELECT string_agg(DISTINCT format('%I.%I', n.nspname, c.relname), ', ')
    INTO others
    FROM pg_depend AS d
    JOIN pg_rewrite AS r ON d.classid = 'pg_rewrite'::regclass AND r.oid = d.objid
    JOIN pg_class AS c ON c.oid = r.ev_class
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_class AS own ON d.refclassid = 'pg_class'::regclass AND own.oid = d.refobjid
    JOIN pg_namespace AS of_own ON of_own.oid = own.relnamespace
    WHERE of_own.nspname IN ('clear_views', 'clear_rows') AND n.nspname NOT IN ('clear_views', 'clear_rows');
    IF others IS NOT NULL THEN
        RAISE EXCEPTION 'views that read those of clear must be dropped before clear_views is made again: %', others;
    END IF;
END
$$;
DROP SCHEMA IF EXISTS clear_rows CASCADE;
DROP SCHEMA IF EXISTS clear_views CASCADE;
CREATE SCHEMA clear_rows;
CREATE SCHEMA clear_views;
SET LOCAL search_path = clear_views, pg_catalog, pg_temp;
