-- Function :id of a file.
SELECT
    name,
    system_name,
    filename,
    start_line
FROM main.functions
WHERE id = :id
