-- Lines of mvcc.txt of run :run: one a process, cell and caller, because an address means something in its process only.
SELECT
    printf('0x%x', cells.address),
    traces.stack,
    cells.struct_size,
    cells.reads,
    cells.commits,
    cells.retries,
    cells.update_failures,
    cells.multi_commits
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN traces ON traces.id = cells.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'mvcc'
ORDER BY cells.profile_id, cells.address, cells.object_id, cells.trace_id;
