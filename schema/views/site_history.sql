DROP VIEW IF EXISTS site_history;
CREATE VIEW site_history AS
-- Question: how did one allocation site change from run to run? One row a signature and run, processes summed.
-- signature: of the stack's function and file names; equal across rebuilds. trace_id: one stack of it in that run.
-- started_ns: of the run, ns since the epoch, to sort by. Counts are blocks, bytes as requested.
-- Profiles of unlike period are added, and runs stand beside each other, with the values as given, not scaled by
--   profiles.period: a sampled profile's values are estimates of all events already, the coarser the longer the period.
SELECT
    traces.signature,
    profiles.run_id,
    runs.started_ns,
    runs.label,
    max(sites.trace_id) AS trace_id, -- the columns of places are those of this trace
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
