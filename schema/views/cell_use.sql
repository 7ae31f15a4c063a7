DROP VIEW IF EXISTS cell_use;
CREATE VIEW cell_use AS
-- Question: which versioned cell is read and committed how often, and how much do its copies cost?
-- Rows: one per run, process, cell and caller, over all windows of the recording; of an ingested file one per profile, cell and
--   caller. A condition on run_id, also by a join or a subquery, reads the rows of those runs only.
-- Columns:
--   run_id [id]: the run
--   profile_id [id]: the newest profile that has this row
--   trace_id [id]: the stack that stack_of names; 0: none
--   object_id [id]: the cell, in objects
--   object [text]: its name for people
--   address [address]: of the cell in the process
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   stack_of [text]: caller, allocation or empty, as in the view lock_use
--   struct_size [bytes]: copied by one write; the largest seen
--   reads [count]: reads of a version
--   commits [count]: new versions
--   multi_commits [count]: commits that changed several cells at once
--   retries [count]: copies that were thrown away because another writer was first
--   update_failures [count]: updates that gave up after too many retries
--   cow_bytes [bytes]: bytes copied: struct_size * (commits + retries)
SELECT
    profiles.run_id,
    used.profile_id,
    places.trace_id,
    objects.id AS object_id,
    objects.name AS object,
    used.address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN used.trace_id <> 0 THEN 'caller'
         WHEN objects.trace_id <> 0 THEN 'allocation'
         ELSE '' END AS stack_of,
    used.struct_size,
    used.reads,
    used.commits,
    used.multi_commits,
    used.retries,
    used.update_failures,
    used.struct_size * (used.commits + used.retries) AS cow_bytes
FROM profiles
JOIN cell_use_facts AS used ON used.profile_id = profiles.id
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = CASE WHEN used.trace_id <> 0 THEN used.trace_id ELSE objects.trace_id END;
