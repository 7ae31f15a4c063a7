-- A part of a run, as if it were the run: temporary tables and views that hide those of the file from the statements that make facts. A process
-- counts with the part of its life; the time of its threads is taken to be spread evenly.
CREATE TEMP TABLE runs AS
SELECT *
FROM main.runs
WHERE false;

CREATE TEMP TABLE run_totals AS
SELECT *
FROM main.run_totals
WHERE false;

CREATE TEMP TABLE processes AS
SELECT *
FROM main.processes
WHERE false;

CREATE TEMP TABLE profiles AS
SELECT *
FROM main.profiles
WHERE false;
CREATE UNIQUE INDEX temp.part_profiles ON profiles(id);

CREATE TEMP VIEW events AS
SELECT events.*
FROM main.events AS events
JOIN temp.processes ON processes.id = events.process_id
JOIN temp.runs ON runs.id = processes.run_id
JOIN main.runs AS whole ON whole.id = runs.id
WHERE events.start_ns >= runs.started_ns - whole.started_ns
  AND events.start_ns < runs.started_ns - whole.started_ns + runs.duration_ns;
