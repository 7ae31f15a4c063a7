INSERT INTO temp.runs
SELECT *
FROM main.runs
WHERE id = :run
