-- The findings of the run :run in the order of the view: this reads one view and sorts nothing itself. :weight is the JSON path
-- of the figure that --by sorts by. The short advice is that for the language of the first stack's line; what the advice says of this finding
-- alone stands behind the text for its code, and is kept.
SELECT
    section,
    doctor.code,
    doctor.severity,
    subject,
    evidence,
    trace_ids,
    doctor.advice,
    advice.title,
    json_extract(evidence, :weight) AS weight,
    json_extract(trace_ids, '$[0]') AS trace_id,
    (SELECT short_advice.text || CASE WHEN substr(doctor.advice, 1, length(advice.text)) = advice.text
                                      THEN substr(doctor.advice, length(advice.text) + 1) ELSE '' END
     FROM short_advice
     WHERE short_advice.code = advice.code
       AND language IN ('', (SELECT language FROM trace_languages WHERE trace_id = json_extract(trace_ids, '$[0]')))
     ORDER BY language DESC
     LIMIT 1) AS short,
    (SELECT unless FROM short_advice WHERE short_advice.code = advice.code AND language = '') AS unless
FROM doctor
LEFT JOIN advice ON advice.code = doctor.section || '-' || doctor.code
WHERE run_id = :run
