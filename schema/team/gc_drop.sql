-- Deletes the rows of doomed runs, in the tables that have partitions only of months of which a run stays, beside those who push. Then drops the
-- partitions of the other months, for which they must have ended: in a table that is written or read no partition is dropped.
CREATE TEMP TABLE doomed_parts ON COMMIT DROP AS
SELECT child.relname, old.month, old.stays
FROM (SELECT runs.month, count(*) > count(doomed.run) AS stays
      FROM clear.runs
      LEFT JOIN pg_temp.doomed USING (project, month, run)
      WHERE runs.month IN (SELECT month FROM pg_temp.doomed)
      GROUP BY runs.month) AS old
JOIN pg_class AS parent ON parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
JOIN pg_class AS child ON child.relnamespace = parent.relnamespace
                      AND child.relname = parent.relname || '_' || to_char(old.month, 'YYYYMM');

CREATE FUNCTION pg_temp.delete_doomed(of_table name) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('DELETE FROM clear.%I AS old USING pg_temp.doomed'
                   ' WHERE (old.project, old.month, old.run) = (doomed.project, doomed.month, doomed.run)', of_table);
END
$$;

DO $$
DECLARE
    part record;
BEGIN
    PERFORM pg_temp.delete_doomed(run_tables)
    FROM clear.run_tables()
    WHERE NOT EXISTS (SELECT 1 FROM pg_class
                      WHERE relnamespace = 'clear'::regnamespace AND relname = run_tables AND relkind = 'p');
    PERFORM pg_temp.delete_doomed(relname) FROM pg_temp.doomed_parts WHERE stays;
    IF NOT EXISTS (SELECT 1 FROM pg_temp.doomed_parts WHERE NOT stays) THEN
        RETURN;
    END IF;
    PERFORM pg_advisory_xact_lock(4998189, 2);
    FOR part IN SELECT relname, month FROM pg_temp.doomed_parts WHERE NOT stays ORDER BY relname LOOP
        IF EXISTS (SELECT 1 FROM clear.run_names WHERE run_names.month = part.month) THEN
            PERFORM pg_temp.delete_doomed(part.relname); -- one came meanwhile
        ELSE
            EXECUTE format('DROP TABLE clear.%I', part.relname);
        END IF;
    END LOOP;
END
$$;
DROP FUNCTION pg_temp.delete_doomed(name);
-- How many runs were deleted of months that are there: their partitions are rewritten.
INSERT INTO clear.meta(key, value)
SELECT 'deleted ' || month, count(*)::text
FROM pg_temp.doomed
GROUP BY month
ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + excluded.value::bigint;
DELETE FROM clear.meta
WHERE key LIKE 'deleted %' AND to_regclass('clear.sites_' || translate(substr(key, 9, 7), '-', '')) IS NULL
