-- File and line of the first stack that a finding of the doctor names.
SELECT places.file, places.line
FROM doctor
JOIN places ON places.trace_id = json_extract(doctor.trace_ids, '$[0]')
WHERE doctor.run_id = :run AND 'finding ' || doctor.section || '-' || doctor.code || ' ' || doctor.subject = :subject
      AND places.file <> ''
LIMIT 1
