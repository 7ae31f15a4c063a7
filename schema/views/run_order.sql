DROP VIEW IF EXISTS run_order;
CREATE VIEW run_order AS
-- Question: which run is the latest, and which ones came before it?
-- Rows: one per run. A run whose recording has written no data yet comes after all others: whoever asks for the latest run wants
--   figures.
-- Columns:
--   run_id [id]: the run
--   place [number]: 1 is the run that commands call `latest`, 2 is `latest~1`, and so on: the newest by start is first
SELECT
    id AS run_id,
    row_number() OVER (
        ORDER BY
            glob('* unfinished *', ' ' || flags || ' ') AND NOT EXISTS (SELECT 1 FROM profiles WHERE run_id = runs.id),
            started_ns DESC,
            id DESC
    ) AS place
FROM runs;
