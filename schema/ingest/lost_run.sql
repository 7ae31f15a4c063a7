-- The run of a JSON object of ingest/lost_describe.sql, unless it is there.
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
