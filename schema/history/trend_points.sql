-- The points of a trend, from :points, a JSON array of arrays: one row per run and series.
SELECT
    json_extract(value, '$[0]') AS run_id,
    json_extract(value, '$[1]') AS uuid,
    json_extract(value, '$[2]') AS started_ns,
    json_extract(value, '$[3]') AS commit_id,
    json_extract(value, '$[4]') AS figure,
    json_extract(value, '$[5]') AS subject,
    json_extract(value, '$[6]') AS value,
    json_extract(value, '$[7]') AS change_percent,
    json_extract(value, '$[8]') AS accepted
FROM json_each(:points);
