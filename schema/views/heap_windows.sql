DROP VIEW IF EXISTS heap_windows;
CREATE VIEW heap_windows AS
-- Question: when did each stack allocate, and how much of it was live then?
-- Rows: one per window of a recording (as in the view windows), stack and label set. A stack that neither allocated nor freed in
--   a window has no row for it: what it had live is then in its row before. A condition WHERE run_id = 3, or = :run, reads that
--   run only.
-- Columns:
--   run_id [id]: the run
--   process_id [id]: the process
--   profile_id [id]: the profile that is the window
--   start_ns [ns since epoch]: start of the window
--   time_ns [ns since epoch]: end of the window
--   from_ns [ns]: start of the window, from the start of the run
--   to_ns [ns]: end of the window, from the start of the run
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated in the window
--   alloc_bytes [bytes]: bytes allocated in the window
--   free_count [count]: blocks freed in the window
--   free_bytes [bytes]: bytes freed in the window
--   inuse_count [count]: blocks live at time_ns, from all windows up to it. This is a state: do not add it over windows
--   inuse_bytes [bytes]: bytes live at time_ns, likewise
SELECT
    used.run_id,
    used.process_id,
    used.profile_id,
    used.time_ns - used.duration_ns AS start_ns,
    used.time_ns,
    used.time_ns - used.duration_ns - runs.started_ns AS from_ns,
    used.time_ns - runs.started_ns AS to_ns,
    used.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    used.alloc_count,
    used.alloc_bytes,
    used.free_count,
    used.free_bytes,
    used.inuse_count,
    used.inuse_bytes
FROM (SELECT profiles.run_id, profiles.process_id, sites.profile_id, profiles.time_ns, profiles.duration_ns,
             sites.trace_id, sites.alloc_count, sites.alloc_bytes, sites.free_count, sites.free_bytes,
             sum(sites.alloc_count - sites.free_count) OVER site AS inuse_count,
             sum(sites.alloc_bytes - sites.free_bytes) OVER site AS inuse_bytes
      FROM sites
      JOIN profiles ON profiles.id = sites.profile_id
      WHERE profiles.process_id IS NOT NULL
      WINDOW site AS (PARTITION BY profiles.run_id, profiles.process_id, profiles.kind, sites.trace_id,
                                   sites.label_set_id
                      ORDER BY profiles.time_ns, profiles.id)) AS used
JOIN runs ON runs.id = used.run_id
JOIN places ON places.trace_id = used.trace_id;
