-- The profiles and processes of the runs that are to be deleted.
INSERT INTO temp.doomed_profiles(id)
SELECT profiles.id
FROM temp.doomed_runs
JOIN main.profiles ON profiles.run_id = doomed_runs.id;
INSERT INTO temp.doomed_processes(id)
SELECT processes.id
FROM temp.doomed_runs
JOIN main.processes ON processes.run_id = doomed_runs.id;
