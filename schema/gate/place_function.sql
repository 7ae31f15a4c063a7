-- File and line of a function: where it begins, else the first of its lines that was seen.
SELECT
    functions.filename,
    coalesce(nullif(functions.start_line, 0),
             (SELECT min(line) FROM location_lines WHERE function_id = functions.id AND line > 0), 0) AS line
FROM functions
JOIN plain_functions ON plain_functions.function_id = functions.id
WHERE plain_functions.name = :name AND functions.filename <> ''
ORDER BY functions.id DESC
LIMIT 1
