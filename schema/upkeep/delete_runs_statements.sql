-- The statements of ingest/upkeep/delete_runs.c.

-- @being_recorded: The runs whose recorder did not store their end: it may go on, or was killed. The last column: whether it wrote since :since, in ns since
-- the epoch.
SELECT
    id,
    uuid,
    started_ns + duration_ns >= :since
FROM runs
WHERE ' ' || flags || ' ' LIKE '% unfinished %'

-- @doom: The runs of the JSON array :ids are to be deleted.
INSERT OR IGNORE INTO temp.doomed_runs(id)
SELECT id
FROM main.runs
WHERE id IN (SELECT value FROM json_each(:ids))

-- @doom_parts: The profiles and processes of the runs that are to be deleted.
INSERT INTO temp.doomed_profiles(id)
SELECT profiles.id
FROM temp.doomed_runs
JOIN main.profiles ON profiles.run_id = doomed_runs.id;
INSERT INTO temp.doomed_processes(id)
SELECT processes.id
FROM temp.doomed_runs
JOIN main.processes ON processes.run_id = doomed_runs.id;

-- @doomed: Rows that are to be deleted, for one connection: the runs, and what hangs on them.
CREATE TEMP TABLE IF NOT EXISTS doomed_runs(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS doomed_profiles(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS doomed_processes(id INTEGER PRIMARY KEY) STRICT;
DELETE FROM temp.doomed_runs;
DELETE FROM temp.doomed_profiles;
DELETE FROM temp.doomed_processes;
