-- Who may add runs changes none: a row of a run comes with the run, in one transaction. The owner of the tables may add rows to any.
CREATE OR REPLACE FUNCTION clear.check_rows() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other uuid;
BEGIN
    IF pg_has_role(current_user, (SELECT relowner FROM pg_class WHERE oid = TG_RELID), 'USAGE') THEN
        RETURN NULL;
    END IF;
    SELECT rows.run
    INTO other
    FROM (SELECT DISTINCT project, month, run FROM fresh) AS rows
    WHERE NOT EXISTS (SELECT 1
                      FROM clear.run_names AS own
                      WHERE (own.project, own.month, own.run) = (rows.project, rows.month, rows.run)
                        AND own.xmin = pg_current_xact_id()::xid)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'run % is there already, or is not there: its rows come with it', other USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NULL;
END
$$;

-- A run is in a project once, whatever month is said, and does not come back where the owner removed it.
CREATE OR REPLACE FUNCTION clear.check_claims() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    other uuid;
BEGIN
    SELECT fresh.run
    INTO other
    FROM fresh
    WHERE EXISTS (SELECT 1
                  FROM clear.run_names AS known
                  WHERE known.project = fresh.project AND known.run = fresh.run AND known.month <> fresh.month)
       OR EXISTS (SELECT 1
                  FROM clear.removed
                  WHERE removed.project = fresh.project AND removed.run = fresh.run)
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'run % is in the store with another month, or its owner removed it', other USING ERRCODE = 'unique_violation';
    END IF;
    RETURN NULL;
END
$$;

DO $$
DECLARE
    parent record;
BEGIN
    FOR parent IN
        SELECT relname, CASE relname WHEN 'run_names' THEN 'check_claims' ELSE 'check_rows' END AS judge
        FROM clear.run_tables() AS relname
    LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS own_runs ON clear.%I', parent.relname);
        EXECUTE format('CREATE TRIGGER own_runs AFTER INSERT ON clear.%I REFERENCING NEW TABLE AS fresh'
                       ' FOR EACH STATEMENT EXECUTE FUNCTION clear.%I()', parent.relname, parent.judge);
    END LOOP;
END
$$;
