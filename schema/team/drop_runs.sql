-- Deletes the runs of a month of a project, which are on another server now; how many there were.
CREATE OR REPLACE FUNCTION clear.drop_runs(of_project bigint, of_month date) RETURNS bigint
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parent name;
    runs   bigint := (SELECT count(*) FROM clear.run_names WHERE project = of_project AND month = of_month);
BEGIN
    FOR parent IN SELECT clear.run_tables() LOOP
        EXECUTE format('DELETE FROM clear.%I WHERE project = $1 AND month = $2', parent) USING of_project, of_month;
    END LOOP;
    INSERT INTO clear.meta(key, value)
    VALUES ('deleted ' || of_month, runs::text)
    ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + runs; -- clear store gc gives the space back
    RETURN runs;
END
$$;
REVOKE ALL ON FUNCTION clear.drop_runs(bigint, date) FROM PUBLIC;

-- Gives the runs of pg_temp.piece to another project of this store. Who has a file with them does not bring them back.
CREATE OR REPLACE FUNCTION clear.give_runs(to_project bigint) RETURNS void
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    parent name;
BEGIN
    INSERT INTO clear.removed(project, run, content_hash)
    SELECT project, run, content_hash
    FROM clear.runs
    JOIN pg_temp.piece USING (project, month, run)
    ON CONFLICT DO NOTHING;
    DELETE FROM clear.removed WHERE project = to_project AND run IN (SELECT run FROM pg_temp.piece);
    FOR parent IN SELECT clear.run_tables() UNION ALL SELECT 'wanting' LOOP
        EXECUTE format('UPDATE clear.%I AS old SET project = $1 FROM pg_temp.piece'
                       ' WHERE (old.project, old.month, old.run) = (piece.project, piece.month, piece.run)', parent) USING to_project;
    END LOOP;
END
$$;
REVOKE ALL ON FUNCTION clear.give_runs(bigint) FROM PUBLIC;

-- The program of a command line, which is quoted for a shell: its first word, without the directory.
CREATE OR REPLACE FUNCTION clear.program_of(command text) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp AS
$$ SELECT regexp_replace(translate(substring(command FROM $pattern$^(?:'[^']*'|[^ ])*$pattern$), $quote$'$quote$, ''), '^.*/', '') $$;
