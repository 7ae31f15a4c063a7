-- Rows that are to be deleted, for one connection: the runs, and what hangs on them.
CREATE TEMP TABLE IF NOT EXISTS doomed_runs(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS doomed_profiles(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS doomed_processes(id INTEGER PRIMARY KEY) STRICT;
DELETE FROM temp.doomed_runs;
DELETE FROM temp.doomed_profiles;
DELETE FROM temp.doomed_processes;
