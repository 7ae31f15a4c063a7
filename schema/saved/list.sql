-- The saved queries: name, parameters as "run=latest top=20" (=? where there is no default), description.
SELECT
    name,
    coalesce((SELECT group_concat(json_extract(value, '$.name') || coalesce('=' || json_extract(value, '$.default'), '=?'), ' ')
              FROM json_each(params)), '') AS params,
    description
FROM queries
ORDER BY name
