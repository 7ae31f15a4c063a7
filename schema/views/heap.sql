DROP VIEW IF EXISTS heap;
CREATE VIEW heap AS
-- Question: who allocated how much, and what of it is still there? One row a profile (process), stack and label set.
-- *_count: blocks. *_bytes: bytes as requested, without the allocator's overhead. A free counts for the stack that
--   allocated. inuse_*: allocated and not freed when the profile was taken; at the end of a run, what was left at exit.
-- function, file, line, module: as in the view places.
SELECT
    profiles.run_id,
    sites.profile_id,
    sites.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    sites.alloc_count,
    sites.alloc_bytes,
    sites.free_count,
    sites.free_bytes,
    sites.alloc_count - sites.free_count AS inuse_count,
    sites.alloc_bytes - sites.free_bytes AS inuse_bytes
FROM sites
JOIN profiles ON profiles.id = sites.profile_id
JOIN places ON places.trace_id = sites.trace_id;
