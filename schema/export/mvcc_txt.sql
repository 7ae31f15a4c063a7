-- Lines of mvcc.txt of run :run: one a process, cell and caller, because an address means something in its process only; over
-- the windows that end after :from and up to :to.
SELECT
    printf('0x%x', cells.address),
    traces.stack,
    max(cells.struct_size),
    sum(cells.reads),
    sum(cells.commits),
    sum(cells.retries),
    sum(cells.update_failures),
    sum(cells.multi_commits)
FROM cells
JOIN profiles ON profiles.id = cells.profile_id
JOIN traces ON traces.id = cells.trace_id
WHERE profiles.run_id = :run AND profiles.kind = 'mvcc' AND profiles.time_ns > :from AND profiles.time_ns <= :to
GROUP BY coalesce(profiles.process_id, -profiles.id), cells.address, cells.object_id, cells.trace_id
ORDER BY
    coalesce(profiles.process_id, profiles.id),
    cells.address,
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'object' AND run_places.id = cells.object_id), cells.object_id),
    coalesce((SELECT place FROM run_places WHERE run_places.run_id = :run AND thing = 'trace' AND run_places.id = cells.trace_id), cells.trace_id);
