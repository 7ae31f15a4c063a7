-- The newest runs, for the index of the server: what they are and which kinds of profile they have. :limit of them.
SELECT
    runs.id,
    runs.started_ns,
    runs.duration_ns,
    coalesce(runs.label, ''),
    iif(runs.command = '', runs.source, runs.command),
    instr(runs.flags, 'unfinished') > 0,
    (SELECT coalesce(group_concat(kind), '')
     FROM (SELECT DISTINCT kind FROM profiles WHERE profiles.run_id = runs.id ORDER BY kind))
FROM runs
ORDER BY runs.started_ns DESC, runs.id DESC
LIMIT :limit;
