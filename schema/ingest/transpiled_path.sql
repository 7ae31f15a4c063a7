-- The .cht file that most frames of run :run name; no row where none does.
SELECT functions.filename AS path
FROM (SELECT profiles.id AS profile_id, trace_id FROM profiles CROSS JOIN sites ON sites.profile_id = profiles.id WHERE run_id = :run
      UNION SELECT profiles.id AS profile_id, trace_id FROM profiles CROSS JOIN locks ON locks.profile_id = profiles.id WHERE run_id = :run
      UNION SELECT profiles.id AS profile_id, trace_id FROM profiles CROSS JOIN cells ON cells.profile_id = profiles.id WHERE run_id = :run
      UNION SELECT profiles.id AS profile_id, trace_id FROM profiles CROSS JOIN cpu ON cpu.profile_id = profiles.id WHERE run_id = :run
      UNION SELECT profiles.id AS profile_id, trace_id FROM profiles CROSS JOIN samples ON samples.profile_id = profiles.id WHERE run_id = :run) AS used
CROSS JOIN traces ON traces.id = used.trace_id
CROSS JOIN json_each(traces.stack) AS step
JOIN location_lines ON location_lines.location_id = step.value
JOIN functions ON functions.id = location_lines.function_id
WHERE functions.filename GLOB '*.cht'
GROUP BY functions.filename
ORDER BY count(*) DESC, functions.filename
LIMIT 1;
