DROP VIEW IF EXISTS series_runs;
CREATE VIEW series_runs AS
-- Question: what was a figure of a whole run?
-- Rows: one per run and figure that was recorded: also where it is 0. Of a file that was ingested, the duration is often not known
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: those of the view figure_kinds with the scope run
--   subject [text]: empty
--   value [unit of the figure]: the figure
--   scope [text]: run
SELECT
    runs.id AS run_id,
    runs.started_ns,
    figure_facts.figure,
    CAST('' AS TEXT) AS subject,
    +figure_facts.value AS value,
    CAST('run' AS TEXT) AS scope
FROM runs
CROSS JOIN figure_facts
WHERE figure_facts.run_id = runs.id AND figure_facts.subject_id = 0;
