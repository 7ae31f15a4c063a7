-- Which runs of a source are wanted, and what they use, for one connection.
CREATE TEMP TABLE IF NOT EXISTS wanted_runs(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS wanted_profiles(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS wanted_processes(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS used_objects(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS used_keys(id INTEGER PRIMARY KEY) STRICT;
CREATE TEMP TABLE IF NOT EXISTS used(id INTEGER PRIMARY KEY) STRICT;
DELETE FROM temp.wanted_profiles;
DELETE FROM temp.wanted_processes;
DELETE FROM temp.used_objects;
DELETE FROM temp.used_keys;
DELETE FROM temp.used;
-- CROSS JOIN: from the wanted ones, however few the file has; otherwise SQLite reads all rows of the file for each run.
INSERT INTO temp.wanted_profiles(id)
SELECT profiles.id
FROM temp.wanted_runs
CROSS JOIN main.profiles ON profiles.run_id = wanted_runs.id;
INSERT INTO temp.wanted_processes(id)
SELECT processes.id
FROM temp.wanted_runs
CROSS JOIN main.processes ON processes.run_id = wanted_runs.id;
INSERT OR IGNORE INTO temp.used_keys(id)
SELECT site_rows.site_key_id
FROM temp.wanted_profiles
CROSS JOIN main.site_rows ON site_rows.profile_id = wanted_profiles.id;
