-- clear store gc: runs, months and names that go.

-- @look: Looks at what would be deleted, all of it at one moment.
BEGIN ISOLATION LEVEL REPEATABLE READ

-- @begin: Begins to delete. Two who delete wait for each other, and for who changes runs. Nobody waits for us longer than we for others: then
-- we give way, before PostgreSQL looks for a deadlock (after 1 s) and ends a reader.
BEGIN;
SET LOCAL lock_timeout = '900ms';
SELECT pg_advisory_xact_lock(4998189, 4)

-- @doomed_table: The runs that are deleted.
CREATE TEMP TABLE doomed (
    project bigint,
    month   date,
    run     uuid,
    PRIMARY KEY (project, month, run)
) ON COMMIT DROP

-- @doomed: Runs of the months before $1 that have no label and no pin, and are not the newest of their command; of project $2, NULL: of all.
INSERT INTO pg_temp.doomed(project, month, run)
SELECT project, month, run
FROM (SELECT project, month, run, label,
             row_number() OVER (PARTITION BY project, command ORDER BY started_ns DESC, run DESC) AS age
      FROM clear.runs
      WHERE $2::bigint IS NULL OR project = $2::bigint) AS aged
WHERE month < $1::date AND label IS NULL AND age > 1
  AND NOT EXISTS (SELECT 1 FROM clear.pins WHERE (pins.project, pins.month, pins.run) = (aged.project, aged.month, aged.run))

-- @months: The months with runs that are deleted: month, runs that go, runs that stay, bytes of the partitions.
SELECT to_char(runs.month, 'YYYY-MM'), count(doomed.run), count(*) - count(doomed.run), (SELECT sum(pg_total_relation_size(part.oid))
     FROM pg_class AS parent
     JOIN pg_inherits ON pg_inherits.inhparent = parent.oid
     JOIN pg_class AS part ON part.oid = pg_inherits.inhrelid
     WHERE parent.relnamespace = 'clear'::regnamespace AND parent.relkind = 'p'
       AND part.relname = parent.relname || '_' || to_char(runs.month, 'YYYYMM'))
FROM clear.runs
LEFT JOIN pg_temp.doomed USING (project, month, run)
WHERE runs.month IN (SELECT month FROM pg_temp.doomed)
GROUP BY runs.month
ORDER BY runs.month

-- @drop: Deletes the rows of doomed runs, in the tables that have partitions only of months of which a run stays, beside those who push. Then drops the
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

-- @seen: Looks at the names: of these runs it is known what they use. A pooler may have kept a session of an earlier gc.
BEGIN ISOLATION LEVEL REPEATABLE READ;
DROP TABLE IF EXISTS pg_temp.seen;
CREATE TEMP TABLE seen AS
SELECT project, month, run
FROM clear.run_names

-- @sweep_begin: Begins to delete names. Who pushes waits, and afterwards knows by `swept` that names may be gone. We wait 0.9 s for those who
-- push now: others wait behind us.
BEGIN;
SET LOCAL lock_timeout = '900ms';
SELECT pg_advisory_xact_lock(4998189, 4);
SELECT pg_advisory_xact_lock(4998189, 2);
INSERT INTO clear.meta(key, value) VALUES ('swept', '1')
ON CONFLICT (key) DO UPDATE SET value = meta.value::bigint + 1;
-- Runs that were pushed since the names were looked at.
CREATE TEMP TABLE newer ON COMMIT DROP AS
SELECT project, month, run
FROM clear.run_names
EXCEPT
SELECT project, month, run
FROM pg_temp.seen;
ANALYZE pg_temp.newer

-- @others: Who holds what clear store gc waits for: the oldest of them, with the number of its process, and how many there are.
SELECT usename, pid, to_char(xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), count(*) OVER ()
FROM pg_stat_activity
WHERE pid <> pg_backend_pid() AND datname = current_database() AND xact_start IS NOT NULL
  AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND classid = 4998189
              UNION ALL
              SELECT pid FROM pg_locks JOIN pg_class ON pg_class.oid = relation WHERE relnamespace = 'clear'::regnamespace)
ORDER BY xact_start
LIMIT 1
