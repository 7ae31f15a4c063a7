DROP VIEW IF EXISTS site_history;
CREATE VIEW site_history AS
-- Question: how did one allocation site change from run to run?
-- Rows: one per signature and run, processes summed. Values are summed as they are, also where profiles have different periods:
--   the values of a sampled profile are already estimates of all events, the less precise the longer the period. A condition on run_id, also
--   by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   signature [hash]: of the function and source file names of the stack: the same in a rebuilt program
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run, to sort by
--   label [text]: of the run; NULL: none
--   trace_id [id]: one of the stacks with this signature in the run
--   function [text]: of that stack, as in the view places
--   file [text]: of that stack, as in the view places
--   line [line]: of that stack, as in the view places
--   module [text]: of that stack, as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   free_count [count]: of those blocks, the freed ones, whoever freed them
--   free_bytes [bytes]: their bytes
--   inuse_count [count]: blocks live at the end
--   inuse_bytes [bytes]: bytes live at the end
SELECT
    CAST(site.value ->> 0 AS BIGINT) AS signature,
    runs.id AS run_id,
    runs.started_ns,
    runs.label,
    places.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    CAST(site.value ->> 2 AS BIGINT) AS alloc_count,
    CAST(site.value ->> 3 AS BIGINT) AS alloc_bytes,
    CAST(site.value ->> 4 AS BIGINT) AS free_count,
    CAST(site.value ->> 5 AS BIGINT) AS free_bytes,
    CAST(site.value ->> 2 AS BIGINT) - CAST(site.value ->> 4 AS BIGINT) AS inuse_count,
    CAST(site.value ->> 3 AS BIGINT) - CAST(site.value ->> 5 AS BIGINT) AS inuse_bytes
FROM runs
-- The sums of one run, by json_each and not by GROUP BY, which lets no condition through that is more than a constant: see the view heap.
JOIN json_each(
    (SELECT json_group_array(sums)
     FROM (SELECT json_array(traces.signature, max(sites.trace_id), sum(sites.alloc_count),
                             sum(sites.alloc_bytes), sum(sites.free_count), sum(sites.free_bytes)) AS sums
           FROM profiles
           JOIN sites ON sites.profile_id = profiles.id
           JOIN traces ON traces.id = sites.trace_id
           WHERE profiles.run_id = runs.id
           GROUP BY traces.signature) AS used)) AS site ON true
JOIN places ON places.trace_id = CAST(site.value ->> 1 AS BIGINT);
