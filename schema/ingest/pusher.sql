-- The statements of ingest/receive/pusher.c.

-- @json_rows: The labels and profiles of the request :body, by series, labels first.
WITH series AS (SELECT CAST(key AS INTEGER) AS number, value FROM json_each(:body, '$.series'))
SELECT number, key, value, profile
FROM (
    SELECT series.number, 0 AS part, label.key AS place, label.value ->> 'name' AS key, label.value ->> 'value' AS value, NULL AS profile
    FROM series, json_each(series.value, '$.labels') AS label
    UNION ALL
    SELECT series.number, 1, sample.key, NULL, NULL, coalesce(sample.value ->> 'rawProfile', sample.value ->> 'raw_profile', '')
    FROM series, json_each(series.value, '$.samples') AS sample)
ORDER BY number, part, CAST(place AS INTEGER);
