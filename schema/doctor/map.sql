DROP VIEW IF EXISTS doctor_map;
CREATE VIEW doctor_map AS
-- Question: which line maps memory and unmaps it again, so that its pages are cleared and mapped anew each time?
-- Rows: one per row of map_facts with a finding.
-- Columns: those of doctor, those of map_facts, and
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   cost_ns [ns]: of the calls, at map_pair_ns each, without the pages
--   cost_percent [percent]: that, of the run's CPU time (its duration, where that is not known), a whole number; NULL: neither is known
-- Thresholds (names are rows of the table rules):
--   map-churn: unmaps >= map_churn_count (2,000), and unmapped_percent >= map_churn_percent (90 %).
-- Severity: that of the advice, but a note if cost_percent < map_churn_cost_percent (10 %), or is not known.
-- Measured: a mapping of 64 KiB and its end take 4.3 us, and each of its pages 1.6 us when it is first touched.
-- Known false positives: memory that is unmapped on purpose at once, because it held secrets.
SELECT
    found.run_id, 'map' AS section, 'map-churn' AS code,
    CASE WHEN coalesce(cost_percent, 0) < (SELECT value FROM rules WHERE name = 'map_churn_cost_percent') THEN 'note' ELSE advice.severity END AS severity,
    CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('maps', maps, 'unmaps', unmaps, 'bytes', bytes, 'pages', pages, 'stacks', stacks, 'cost_ns', cost_ns, 'cost_percent', cost_percent)
        AS evidence,
    '[' || found.trace_id || ']' AS trace_ids, advice.text AS advice,
    found.trace_id, stacks, maps, unmaps, unmapped_percent, bytes, pages, places.function, places.file, places.line, places.module, cost_ns, cost_percent
FROM (SELECT priced.*, CAST(round(100.0 * cost_ns / nullif(coalesce(run.cpu_ns, run.duration_ns), 0)) AS BIGINT) AS cost_percent
      FROM (SELECT map_facts.*, CAST(unmaps * (SELECT value FROM rules WHERE name = 'map_pair_ns') AS BIGINT) AS cost_ns FROM map_facts) AS priced
      JOIN run_facts AS run ON run.run_id = priced.run_id) AS found
JOIN advice ON advice.code = 'map-map-churn'
JOIN places ON places.trace_id = found.trace_id
WHERE unmaps >= (SELECT value FROM rules WHERE name = 'map_churn_count')
  AND unmapped_percent >= (SELECT value FROM rules WHERE name = 'map_churn_percent');
