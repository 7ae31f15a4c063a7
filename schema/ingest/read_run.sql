-- The statements of ingest/read/warehouse/read_run.c. "There" is the database that holds the rows of the file, without constraints.

-- @create: The statement that makes table :table there, with the columns and defaults that it has here.
SELECT
    'CREATE TABLE main."' || :table || '"('
    || group_concat(
        '"' || columns.name || '" '
        || CASE WHEN pk = 1 AND columns.name = 'id' THEN 'INTEGER PRIMARY KEY' ELSE type || coalesce(' DEFAULT ' || dflt_value, '') END,
        ', '
    )
    || ')' AS statement
FROM pragma_table_info(:table) AS columns

-- @has_column: Does table :table have the column :column?
SELECT count(*)
FROM pragma_table_info(:table)
WHERE name = :column

-- @run_here: Labels run :run; NULL: it keeps the label that it has.
UPDATE runs
SET label = coalesce(:label, label)
WHERE id = :run

-- @run_there: The run of the file: its id, uuid, content hash and start, how many runs there are, and whether its end is missing.
SELECT id, uuid, content_hash, started_ns, (SELECT count(*) FROM main.runs), ' ' || flags || ' ' LIKE '% unfinished %'
FROM main.runs

-- @shift_processes: All moments there, :later.
UPDATE main.processes
SET started_ns = started_ns + :later, ended_ns = ended_ns + :later

-- @shift_profiles: All moments there, :later.
UPDATE main.profiles
SET time_ns = time_ns + :later

-- @shift_runs: All moments there, :later.
UPDATE main.runs
SET started_ns = started_ns + :later
