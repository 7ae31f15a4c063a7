-- Type and default of the parameter :name, from the JSON :params of a saved query. No row: the query does not declare it.
SELECT json_extract(value, '$.type') AS type, json_extract(value, '$.default') AS default_value
FROM json_each(:params)
WHERE json_extract(value, '$.name') = :name
