-- The statements of cli/team/push_otlp.c.

-- @attributes: The attributes of a resource that say what the run :run is of: its service (a tag, else the name of the program, else that of the file),
-- its host, its command line, and its tags.
WITH run AS (
    SELECT id, host, iif(source = 'profile', command, '') AS command_line,
           iif(source = 'received', command, '') AS service,
           iif(source = 'profile', substr(command, 1, instr(command || ' ', ' ') - 1), source) AS path
    FROM runs
    WHERE id = :run),
attributes AS (
    SELECT 'service.name' AS key, iif(service <> '', service, replace(path, rtrim(path, replace(path, '/', '')), '')) AS value,
           1 AS place
    FROM run
    UNION ALL
    SELECT 'host.name', host, 2
    FROM run
    UNION ALL
    SELECT 'process.command_line', command_line, 3
    FROM run
    UNION ALL
    SELECT iif(key = 'service_name', 'service.name', key), value, 0
    FROM tags
    WHERE run_id = :run)
SELECT key, value, min(place)
FROM attributes
WHERE value <> ''
GROUP BY key
ORDER BY key;
