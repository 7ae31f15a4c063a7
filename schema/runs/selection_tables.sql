-- A selection that is judged as if it were a run (run_part.c, run_together.c): tables that hide those of the file from the statements that make facts.
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
