DROP VIEW IF EXISTS cell_use;
CREATE VIEW cell_use AS
-- Question: which versioned cell is read and committed how often, and what do its copies cost? One row a run, process, cell
--   and caller, over all windows of the recording; of an ingested artefact one a profile, cell and caller.
-- object, address, trace_id, stack_of, function, file, line, module, profile_id: as in the view lock_use.
-- struct_size: bytes that one write copies, the largest met. cow_bytes: bytes copied, struct_size * (commits + retries).
-- reads, commits, multi_commits, retries, update_failures: counts.
-- WHERE run_id = 3, or = :run, reads that run alone.
SELECT
    used.run_id,
    used.profile_id,
    places.trace_id,
    used.object_id,
    objects.name AS object,
    used.address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN used.trace_id <> 0 THEN 'caller' WHEN objects.trace_id <> 0 THEN 'allocation' ELSE '' END AS stack_of,
    used.struct_size,
    used.reads,
    used.commits,
    used.multi_commits,
    used.retries,
    used.update_failures,
    used.struct_size * (used.commits + used.retries) AS cow_bytes
FROM (SELECT profiles.run_id, max(profiles.id) AS profile_id, cells.object_id, cells.address, cells.trace_id,
             max(struct_size) AS struct_size, sum(reads) AS reads, sum(commits) AS commits,
             sum(multi_commits) AS multi_commits, sum(retries) AS retries, sum(update_failures) AS update_failures
      FROM cells
      JOIN profiles ON profiles.id = cells.profile_id
      GROUP BY profiles.run_id, coalesce(profiles.process_id, -profiles.id), profiles.kind, cells.object_id,
               cells.address, cells.trace_id) AS used
JOIN objects ON objects.id = used.object_id
JOIN places ON places.trace_id = CASE WHEN used.trace_id <> 0 THEN used.trace_id ELSE objects.trace_id END;
