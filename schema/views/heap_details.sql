DROP VIEW IF EXISTS heap_details;
CREATE VIEW heap_details AS
-- Question: which stack allocated by which call, how many of its blocks were temporary, how much did realloc copy, and what was copied by hand?
-- Rows: one per run and stack that has any of it, over all its processes and windows. A condition WHERE run_id = 3, or = :run, reads
--   that run only.
-- Columns:
--   run_id [id]: the run
--   trace_id [id]: the stack that allocated
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   alloc_count [count]: blocks allocated
--   alloc_bytes [bytes]: bytes allocated
--   temporary_count [count]: of the blocks, those freed before the thread that allocated them allocated another one, and by it
--   malloc_count [count]: of the blocks, those from malloc and clear_alloc
--   calloc_count [count]: those from calloc
--   aligned_count [count]: those from posix_memalign, aligned_alloc, memalign, valloc, pvalloc
--   realloc_count [count]: those from realloc and reallocarray, also of no old block
--   moved_count [count]: of these, the ones that were moved to another address
--   moved_bytes [bytes]: copied by that: the smaller of the old and the new size
--   realloc_bytes [bytes]: of the blocks of realloc_count
--   resized_count [count]: calls of realloc with a block that was there, moved or not; realloc_count less these allocated a new one
--   resized_bytes [bytes]: that these blocks had before
--   step_count [count]: those of them that made the block larger by less than an eighth. A buffer that doubles has none
--   step_bytes [bytes]: that the blocks of step_count had before: what is copied where no step can be made in place
--   replaced_count [count]: blocks of 4,096 B and more that were freed by free or delete when the thread had allocated a block of the same
--     stack last, as where a buffer is copied into a new one
--   copy_step_count [count]: those of them where that block is larger, by less than an eighth
--   copy_step_bytes [bytes]: of the blocks of copy_step_count: what was copied, if they were
--   copy_growth_bytes [bytes]: by which the new blocks of copy_step_count are larger, together
SELECT
    used.run_id,
    used.trace_id,
    places.function,
    places.file,
    places.line,
    places.module,
    calls.alloc_count,
    calls.alloc_bytes,
    used.temporary_count,
    calls.alloc_count - used.calloc_count - used.aligned_count - used.realloc_count AS malloc_count,
    used.calloc_count,
    used.aligned_count,
    used.realloc_count,
    used.moved_count,
    used.moved_bytes,
    used.realloc_bytes,
    used.resized_count,
    used.resized_bytes,
    used.step_count,
    used.step_bytes,
    used.replaced_count,
    used.copy_step_count,
    used.copy_step_bytes,
    used.copy_growth_bytes
-- Not one sum over both tables: SQLite would not ask it for the rows of one run only.
FROM (SELECT profiles.run_id, site_details.trace_id,
             sum(temporary_count) AS temporary_count, sum(calloc_count) AS calloc_count,
             sum(aligned_count) AS aligned_count, sum(realloc_count) AS realloc_count,
             sum(moved_count) AS moved_count, sum(moved_bytes) AS moved_bytes, sum(realloc_bytes) AS realloc_bytes,
             sum(resized_count) AS resized_count, sum(resized_bytes) AS resized_bytes, sum(step_count) AS step_count,
             sum(step_bytes) AS step_bytes, sum(replaced_count) AS replaced_count,
             sum(copy_step_count) AS copy_step_count, sum(copy_step_bytes) AS copy_step_bytes,
             sum(copy_growth_bytes) AS copy_growth_bytes
      FROM profiles
      JOIN site_details ON site_details.profile_id = profiles.id
      GROUP BY profiles.run_id, site_details.trace_id) AS used
JOIN (SELECT profiles.run_id, sites.trace_id, sum(alloc_count) AS alloc_count, sum(alloc_bytes) AS alloc_bytes
      FROM profiles
      JOIN sites ON sites.profile_id = profiles.id
      WHERE profiles.process_id IS NOT NULL
      GROUP BY profiles.run_id, sites.trace_id) AS calls ON calls.run_id = used.run_id AND calls.trace_id = used.trace_id
JOIN places ON places.trace_id = used.trace_id;
