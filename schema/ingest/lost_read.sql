-- What a JSON object of ingest/lost_describe.sql says. Fails where :run is not JSON; a column is NULL where it is not of that kind.
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
