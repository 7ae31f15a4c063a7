-- Deletes a run from all tables; the rows that it had. A push does not bring it back.
CREATE OR REPLACE FUNCTION clear.remove_run(of_project bigint, of_month date, of_run uuid) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parent name;
    gone   bigint;
    rows   bigint := 0;
BEGIN
    INSERT INTO clear.removed(project, run, content_hash)
    SELECT project, run, content_hash
    FROM clear.runs
    WHERE project = of_project AND month = of_month AND run = of_run
    ON CONFLICT DO NOTHING;
    INSERT INTO clear.meta(key, value)
    SELECT 'deleted ' || month, '1'
    FROM clear.run_names
    WHERE project = of_project AND month = of_month AND run = of_run
    ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + 1; -- clear store gc gives the space back
    DELETE FROM clear.wanting WHERE project = of_project AND run = of_run;
    FOR parent IN SELECT clear.run_tables()
    LOOP
        EXECUTE format('DELETE FROM clear.%I WHERE project = $1 AND month = $2 AND run = $3', parent) USING of_project, of_month, of_run;
        GET DIAGNOSTICS gone = ROW_COUNT;
        rows := rows + gone;
    END LOOP;
    RETURN rows;
END
$$;
REVOKE ALL ON FUNCTION clear.remove_run(bigint, date, uuid) FROM PUBLIC;
