-- The events of a Chrome trace, :text, in its order: an array of them, or an object with one in traceEvents. SQLite reads the JSON, and
-- bounds its depth.
SELECT
    CAST(json_extract(event.value, '$.ph') AS TEXT) AS phase,
    CAST(json_extract(event.value, '$.pid') AS INTEGER) AS pid,
    CAST(json_extract(event.value, '$.tid') AS INTEGER) AS tid,
    CAST(json_extract(event.value, '$.ts') AS REAL) AS us,
    CAST(json_extract(event.value, '$.dur') AS REAL) AS duration_us,
    CAST(json_extract(event.value, '$.name') AS TEXT) AS name,
    CAST(json_extract(event.value, '$.cat') AS TEXT) AS category,
    CAST(json_extract(event.value, '$.args.name') AS TEXT) AS given_name,
    CAST(coalesce(json_extract(event.value, '$.id2.local'), json_extract(event.value, '$.id2.global'), json_extract(event.value, '$.id')) AS TEXT) AS async_id
FROM json_each(iif(json_type(:text) = 'array', :text, json_extract(:text, '$.traceEvents'))) AS event
WHERE event.type = 'object';
