DROP VIEW IF EXISTS cpu_share_errors;
CREATE VIEW cpu_share_errors AS
-- Question: how far may a share of the CPU time that was sampled be off?
-- Rows: 101 per run whose CPU samples were counted (run_facts.cpu_independent), one for each whole percent.
-- Columns:
--   run_id [id]: the run
--   cpu_percent [percent]: the share
--   points [percent]: in 95 of 100 runs the true share is within so many points of it, rounded up; as beside functions
SELECT
    run_id, cpu_percent,
    -- The binomial's, with 1.92 samples more on both sides (query/runs/sampling_error.h). Newton's root: sqrt is not in every build of SQLite.
    (WITH RECURSIVE root(step, value) AS (
         SELECT 0, variance + 1
         UNION ALL
         SELECT step + 1, (value + variance / value) / 2 FROM root WHERE step < 24)
     SELECT CAST(round(value + 0.5) AS BIGINT) FROM root WHERE step = 24) AS points
FROM (SELECT
          run_id, cpu_percent,
          38416.0 * (cpu_independent * cpu_percent / 100.0 + 1.92) * (cpu_independent * (100 - cpu_percent) / 100.0 + 1.92)
              / ((cpu_independent + 3.84) * (cpu_independent + 3.84) * (cpu_independent + 3.84)) AS variance
      FROM run_facts
      CROSS JOIN (WITH RECURSIVE shares(cpu_percent) AS (
                      SELECT 0
                      UNION ALL
                      SELECT cpu_percent + 1 FROM shares WHERE cpu_percent < 100)
                  SELECT cpu_percent FROM shares) AS share
      WHERE cpu_independent > 0) AS judged;
