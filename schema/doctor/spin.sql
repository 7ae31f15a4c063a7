DROP VIEW IF EXISTS doctor_spin;
CREATE VIEW doctor_spin AS
-- Question: which threads wait in a loop of machine code that only asks memory again, until another thread changes it?
-- Rows: one per row of spin_facts with a finding.
-- Columns: those of doctor, those of spin_facts, and
--   module [text]: as in the view places
--   cpu_error_points [percent]: in 95 of 100 runs the true cpu_percent is within so many points of it; NULL: not known
-- Thresholds (names are rows of the table rules):
--   busy-wait: samples >= spin_samples (5), cpu_percent >= spin_percent (10 %), and function_percent >= spin_function_percent (80 %).
-- Severity: that of the advice if has_pause, or if writer names who stores to what it asks for; else a note, for nobody is seen who does.
-- Known false positives: a spin lock that is held for nanoseconds on processors of its own.
SELECT
    spun.run_id, 'spin' AS section, 'busy-wait' AS code, CASE WHEN has_pause = 1 OR writer <> '' THEN advice.severity ELSE 'note' END AS severity,
    CASE WHEN spun.function = '' THEN places.function ELSE spun.function END AS subject,
    json_object('cpu_ns', cpu_ns, 'cpu_percent', cpu_percent, 'cpu_error_points', points, 'samples', samples, 'function_percent', function_percent,
                'instructions', instructions, 'has_pause', has_pause, 'threads', threads, 'asked', nullif(asked, ''), 'writer', nullif(writer, '')) AS evidence,
    '[' || spun.trace_id || ']' AS trace_ids, advice.text AS advice,
    spun.trace_id, spun.function, spun.file, spun.line, samples, cpu_ns, cpu_percent, function_percent, instructions, has_pause, threads,
    asked, writer, places.module, points AS cpu_error_points
FROM (SELECT spin_facts.*,
             (SELECT points FROM cpu_share_errors AS share WHERE share.run_id = spin_facts.run_id AND share.cpu_percent = spin_facts.cpu_percent) AS points
      FROM spin_facts) AS spun
JOIN advice ON advice.code = 'spin-busy-wait'
JOIN places ON places.trace_id = spun.trace_id
WHERE samples >= (SELECT value FROM rules WHERE name = 'spin_samples')
  AND cpu_percent >= (SELECT value FROM rules WHERE name = 'spin_percent')
  AND function_percent >= (SELECT value FROM rules WHERE name = 'spin_function_percent');
