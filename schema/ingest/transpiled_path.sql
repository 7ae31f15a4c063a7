-- The .cht file that most frames of run :run name; no row where none does.
SELECT functions.filename AS path
FROM (SELECT profile_id, trace_id FROM sites
      UNION SELECT profile_id, trace_id FROM locks
      UNION SELECT profile_id, trace_id FROM cells
      UNION SELECT profile_id, trace_id FROM cpu
      UNION SELECT profile_id, trace_id FROM samples) AS used
JOIN profiles ON profiles.id = used.profile_id
JOIN traces ON traces.id = used.trace_id
JOIN json_each(traces.stack) AS step
JOIN location_lines ON location_lines.location_id = step.value
JOIN functions ON functions.id = location_lines.function_id
WHERE profiles.run_id = :run AND functions.filename GLOB '*.cht'
GROUP BY functions.filename
ORDER BY count(*) DESC, functions.filename
LIMIT 1;
