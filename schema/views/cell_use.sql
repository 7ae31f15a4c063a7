DROP VIEW IF EXISTS cell_use;
CREATE VIEW cell_use AS
-- Question: which versioned cell is read and committed how often, and what do its copies cost? One row a profile, cell
--   and caller.
-- object, address, trace_id, stack_of, function, file, line, module: as in the view lock_use.
-- struct_size: bytes that one write copies. cow_bytes: bytes copied, struct_size * (commits + retries).
-- reads, commits, multi_commits, retries, update_failures: counts.
SELECT
    profiles.run_id,
    cells.profile_id,
    places.trace_id,
    cells.object_id,
    objects.name AS object,
    cells.address,
    places.function,
    places.file,
    places.line,
    places.module,
    CASE WHEN cells.trace_id <> 0 THEN 'caller' WHEN objects.trace_id <> 0 THEN 'allocation' ELSE '' END AS stack_of,
    cells.struct_size,
    cells.reads,
    cells.commits,
    cells.multi_commits,
    cells.retries,
    cells.update_failures,
    cells.struct_size * (cells.commits + cells.retries) AS cow_bytes
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN objects ON objects.id = cells.object_id
JOIN places ON places.trace_id = CASE WHEN cells.trace_id <> 0 THEN cells.trace_id ELSE objects.trace_id END;
