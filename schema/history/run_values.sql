-- The statements of query/history/run_values.c.

-- @run_subjects: The figure :figure of the subjects in the run :run that match :of. A subject without a row was 0; NULL: the run did not record the
-- figure at all.
SELECT CASE WHEN count(*) FILTER (WHERE subject = '') OR count(*) FILTER (WHERE subject GLOB :of)
            THEN coalesce(sum(value) FILTER (WHERE subject GLOB :of), 0) END
FROM series
WHERE run_id = :run AND figure = :figure;

-- @run_total: The figure :figure of the whole run :run. NULL or no row: the run did not record it.
SELECT value
FROM series_runs
WHERE run_id = :run AND figure = :figure;
