-- The view series of a private database, and those that it is made of in a file, from figures that a store has: figures in the order in which the
-- view of a file has them. Findings are in series alone.
CREATE TEMP TABLE IF NOT EXISTS store_figures (
    run_id  INTEGER NOT NULL,
    figure  TEXT    NOT NULL,
    subject TEXT    NOT NULL,
    value   REAL,
    place   INTEGER NOT NULL -- of the figure in its run
);
CREATE TEMP VIEW IF NOT EXISTS series AS
SELECT
    store_figures.run_id,
    runs.started_ns,
    store_figures.figure,
    store_figures.subject,
    CASE WHEN value = CAST(value AS INTEGER) THEN CAST(value AS INTEGER) ELSE value END AS value,
    CASE subject WHEN '' THEN 'run' ELSE substr(subject, 1, instr(subject, ' ') - 1) END AS scope
FROM temp.store_figures
JOIN main.runs ON runs.id = store_figures.run_id
LEFT JOIN main.figure_kinds AS kinds ON kinds.figure = store_figures.figure
ORDER BY kinds.place, store_figures.run_id, store_figures.place;
CREATE TEMP VIEW IF NOT EXISTS series_runs AS
SELECT * FROM temp.series WHERE scope = 'run';
CREATE TEMP VIEW IF NOT EXISTS series_functions AS
SELECT * FROM temp.series WHERE scope = 'function';
CREATE TEMP VIEW IF NOT EXISTS series_sites AS
SELECT * FROM temp.series WHERE scope = 'site';
CREATE TEMP VIEW IF NOT EXISTS series_counters AS
SELECT * FROM temp.series WHERE scope IN ('counter', 'sample');
CREATE TEMP VIEW IF NOT EXISTS series_objects AS
SELECT * FROM temp.series WHERE scope NOT IN ('run', 'function', 'site', 'counter', 'sample', 'finding');
