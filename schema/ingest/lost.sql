-- The statements of ingest/record/lost.c.

-- @describe: Run :run as a JSON object, for the case that its recorder cannot store it: with the path :warehouse of its file, that of the
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

-- @end: Run :run is over, but nobody saw how it ended.
UPDATE runs
SET flags = trim(replace(' ' || flags || ' ', ' unfinished ', ' '))
WHERE id = :run

-- @known: The run with the UUID :uuid, and whether it is over: then it has all that was recorded.
SELECT id, instr(' ' || flags || ' ', ' unfinished ') = 0
FROM runs
WHERE uuid = :uuid

-- @read: What a JSON object of ingest/lost_describe says. Fails where :run is not JSON; a column is NULL where it is not of that kind.
SELECT
    iif(json_type(:run, '$.warehouse') = 'text', json_extract(:run, '$.warehouse'), NULL),
    iif(json_type(:run, '$.command') = 'text', json_extract(:run, '$.command'), NULL),
    iif(json_type(:run, '$.label') = 'text', json_extract(:run, '$.label'), NULL),
    iif(json_type(:run, '$.uuid') = 'text', json_extract(:run, '$.uuid'), NULL),
    iif(json_type(:run, '$.build') = 'text', json_extract(:run, '$.build'), NULL),
    iif(json_type(:run, '$.program') = 'text', json_extract(:run, '$.program'), NULL),
    iif(json_type(:run, '$.started_ns') = 'integer', json_extract(:run, '$.started_ns'), 0),
    iif(json_type(:run, '$.source') = 'text', json_extract(:run, '$.source'), NULL),
    iif(json_type(:run, '$.text') = 'text', json_extract(:run, '$.text'), NULL)

-- @run: The run of a JSON object of ingest/lost_describe, unless it is there.
INSERT INTO runs(uuid, command, label, started_ns, host, source, sample_n, flags)
SELECT
    json_extract(:run, '$.uuid'),
    json_extract(:run, '$.command'),
    json_extract(:run, '$.label'),
    json_extract(:run, '$.started_ns'),
    json_extract(:run, '$.host'),
    'profile',
    json_extract(:run, '$.sample_n'),
    json_extract(:run, '$.flags')
WHERE true
ON CONFLICT (uuid) DO NOTHING

-- @tags: The tags of that object, of which the run :id may have some.
INSERT INTO tags(run_id, key, value)
SELECT :id, key, value
FROM json_each(:run, '$.tags')
WHERE true
ON CONFLICT (run_id, key) DO NOTHING
