-- The findings of the run :run in the order of the view: this reads one view and sorts nothing itself. :weight is the JSON path
-- of the figure that --by sorts by, NULL: none.
SELECT
    section,
    code,
    severity,
    subject,
    evidence,
    trace_ids,
    advice,
    iif(:weight IS NULL, 0, json_extract(evidence, :weight)) AS weight,
    json_extract(trace_ids, '$[0]') AS trace_id
FROM doctor
WHERE run_id = :run
