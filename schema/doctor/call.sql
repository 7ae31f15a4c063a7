DROP VIEW IF EXISTS doctor_call;
CREATE VIEW doctor_call AS
-- Question: which line of the program's own code spends much of the CPU time in a call that can usually be made less often? Which throws exceptions that often?
-- Rows: one per row of call_facts with a finding.
-- Columns: those of doctor, those of call_facts, and
--   cpu_error_points [percent]: in 95 of 100 runs the true cpu_percent is within so many points of it; NULL: not known
-- Thresholds (names are rows of the table rules):
--   hot-call: the call is one of the view usual_calls, line is known, samples >= call_samples (10), and cpu_percent >= call_percent (30 %).
--   exceptions: the call throws or unwinds, samples >= call_samples (10), and cpu_percent >= call_exception_percent (20 %).
-- Severity: that of the advice, but a note if that of the call is one, or if the share is not surely above the threshold: p of n samples are surely more than
--   t where (p - t)^2 * n >= 3.84 * t * (1 - t), which is 95 %. n counts independent samples (cpu_independent of run_facts); where that is not known
--   nothing is sure.
-- Measured (g++ 12): a throw and its catch take 1.0 us of CPU time with no frame between them, 3.2 us with nine, an error code that is returned 1.4 ns. A
--   panic of Rust that is caught takes 1.6 us (rustc 1.95).
-- Known false positives: a program whose work is this call, with other arguments each time, as of a tool that converts times.
SELECT
    called.run_id, 'call' AS section, substr(advice.code, 6) AS code,
    CASE WHEN usual.severity = 'note' OR (cpu_percent - least_percent) * (cpu_percent - least_percent) * coalesce(independent, 0)
                                    < 3.84 * least_percent * (100 - least_percent)
         THEN 'note' ELSE advice.severity END AS severity,
    function AS subject,
    json_object('cpu_ns', cpu_ns, 'cpu_percent', cpu_percent, 'cpu_error_points', points, 'samples', samples, 'throws', throws, 'call', called.call,
                'callee', callee || CASE module WHEN '' THEN '' ELSE ' [' || module || ']' END) AS evidence,
    '[' || trace_id || ']' AS trace_ids, advice.text || coalesce(' ' || usual.text, '') AS advice,
    trace_id, called.call, function, file, line, callee, module, samples, cpu_ns, cpu_percent, run_samples, throws, points AS cpu_error_points
FROM (SELECT call_facts.*, (SELECT value FROM rules WHERE name = CASE call WHEN 'exception' THEN 'call_exception_percent' ELSE 'call_percent' END) AS least_percent,
             (SELECT cpu_independent FROM run_facts WHERE run_facts.run_id = call_facts.run_id) AS independent,
             (SELECT points FROM cpu_share_errors AS share WHERE share.run_id = call_facts.run_id AND share.cpu_percent = call_facts.cpu_percent) AS points
      FROM call_facts) AS called
JOIN advice ON advice.code = CASE called.call WHEN 'exception' THEN 'call-exceptions' WHEN '' THEN '' ELSE 'call-hot-call' END
LEFT JOIN usual_calls AS usual ON usual.call = called.call
WHERE samples >= (SELECT value FROM rules WHERE name = 'call_samples') AND cpu_percent >= least_percent AND (line > 0 OR called.call = 'exception');
