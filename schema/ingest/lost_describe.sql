-- Run :run as a JSON object, for the case that its recorder cannot store it: with the path :warehouse of its file, that of the
-- :program, and of a program that was built for it the directory :build, the :source and its :text; NULL for others.
SELECT
    json_object(
        'uuid', uuid,
        'command', command,
        'label', label,
        'started_ns', started_ns,
        'host', host,
        'sample_n', sample_n,
        'flags', flags,
        'tags', (SELECT json_group_object(key, value) FROM tags WHERE run_id = runs.id),
        'warehouse', :warehouse,
        'program', :program,
        'build', :build,
        'source', :source,
        'text', :text
    )
FROM runs
WHERE id = :run
