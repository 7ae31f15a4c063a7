DROP VIEW IF EXISTS site_history;
CREATE VIEW site_history AS
-- Question: how did one allocation site change from run to run?
-- Rows: one per signature and run, processes summed. Values are summed as they are, also where profiles have different periods:
--   the values of a sampled profile are already estimates of all events, the less precise the longer the period.
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
    traces.signature,
    profiles.run_id,
    runs.started_ns,
    runs.label,
    max(sites.trace_id) AS trace_id, -- the columns of places are from the row with the maximum
    places.function,
    places.file,
    places.line,
    places.module,
    sum(sites.alloc_count) AS alloc_count,
    sum(sites.alloc_bytes) AS alloc_bytes,
    sum(sites.free_count) AS free_count,
    sum(sites.free_bytes) AS free_bytes,
    sum(sites.alloc_count - sites.free_count) AS inuse_count,
    sum(sites.alloc_bytes - sites.free_bytes) AS inuse_bytes
FROM sites
JOIN profiles ON profiles.id = sites.profile_id
JOIN runs ON runs.id = profiles.run_id
JOIN traces ON traces.id = sites.trace_id
JOIN places ON places.trace_id = sites.trace_id
GROUP BY traces.signature, profiles.run_id;
