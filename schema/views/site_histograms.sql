DROP VIEW IF EXISTS site_histograms;
CREATE VIEW site_histograms AS
-- Question: how large are the blocks of each allocation site, and how long do they live?
-- Rows: one per run, stack, histogram and bucket that has blocks, over all processes and windows; of runs with --lifetimes. A
--   condition WHERE run_id = 3, or = :run, reads that run only.
-- Columns:
--   run_id [id]: the run
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   histogram [text]: size (bytes, of each block), lifetime (ns, of freed blocks), passed (blocks that its thread allocated in between,
--     of blocks that this thread freed)
--   from_value [count]: the lowest value of the bucket, in bytes, ns or blocks
--   below_value [count]: the value above its highest
--   count [count]: blocks
SELECT
    used.run_id,
    used.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    used.histogram,
    used.from_value,
    CASE used.from_value WHEN 0 THEN 1 ELSE used.from_value * 2 END AS below_value,
    used.count
FROM (SELECT profiles.run_id, histograms.trace_id, histograms.histogram, histograms.from_value, sum(histograms.count) AS count
      FROM histograms
      JOIN profiles ON profiles.id = histograms.profile_id
      GROUP BY profiles.run_id, histograms.trace_id, histograms.histogram, histograms.from_value) AS used
JOIN places ON places.trace_id = used.trace_id;
