DROP VIEW IF EXISTS heap_windows;
CREATE VIEW heap_windows AS
-- Question: when did each stack allocate, and what of it was in use then? One row a window of a recording (as in the view windows), stack
--   and label set; a stack that neither allocated nor freed in a window has no row there, and what it had in use is that
--   of its row before.
-- alloc_*, free_*: in this window, from start_ns to time_ns (ns since the epoch). inuse_*: the state at time_ns, over all
--   windows up to it; a state is no difference, so it is not to be added over windows.
-- from_ns, to_ns: nanoseconds from the start of the run. function, file, line, module: as in the view places.
-- WHERE run_id = 3, or = :run, reads that run alone.
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
