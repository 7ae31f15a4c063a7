-- Which columns of a diagnosis the view :view lacks ("code, advice"; NULL: none), and whether it has the column weight.
WITH have AS (
    SELECT lower(name) AS name
    FROM pragma_table_info(:view)
)
SELECT
    (SELECT group_concat(value, ', ')
     FROM json_each('["run_id", "section", "code", "severity", "subject", "evidence", "trace_ids", "advice"]')
     WHERE value NOT IN (SELECT name FROM have)) AS missing,
    EXISTS (SELECT 1 FROM have WHERE name = 'weight') AS has_weight
