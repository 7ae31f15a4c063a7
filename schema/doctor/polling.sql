DROP VIEW IF EXISTS doctor_polling;
CREATE VIEW doctor_polling AS
-- Question: which line sleeps for some milliseconds again and again, as one does that asks whether something has happened?
-- Rows: one per row of polling_facts with a finding.
-- Columns: those of doctor, those of polling_facts, and
--   function [text]: as in the view places
--   file [text]: as in the view places
--   line [line]: as in the view places
--   module [text]: as in the view places
--   delay_ns [ns]: half of the mean sleep: how late it sees in the mean what it waits for
-- Thresholds (names are rows of the table rules):
--   polling: naps >= polling_count (500), mean_nap_ns <= polling_mean_ns (20 ms), and nap_percent >= polling_percent (10 %).
-- Severity: that of the advice if its loop does nothing else but ask for a global variable that another function, one that was seen, stores to; else a
--   note, for what is polled, and whether anything is, is not seen.
-- Known false positives: a program that paces itself, as a note.
SELECT
    slept.run_id, 'polling' AS section, 'polling' AS code, CASE WHEN writer <> '' THEN advice.severity ELSE 'note' END AS severity,
    CASE WHEN places.function = '' THEN '(no stack)' ELSE places.function END AS subject,
    json_object('naps', naps, 'nap_ns', nap_ns, 'nap_percent', nap_percent, 'delay_ns', mean_nap_ns / 2, 'stacks', stacks, 'asked', nullif(asked, ''), 'writer', nullif(writer, '')) AS evidence,
    '[' || slept.trace_id || ']' AS trace_ids, advice.text AS advice,
    slept.trace_id, stacks, naps, nap_ns, mean_nap_ns, nap_percent, asked, writer, places.function, places.file, places.line, places.module,
    mean_nap_ns / 2 AS delay_ns
FROM polling_facts AS slept
JOIN advice ON advice.code = 'polling-polling'
JOIN places ON places.trace_id = slept.trace_id
WHERE naps >= (SELECT value FROM rules WHERE name = 'polling_count')
  AND mean_nap_ns <= (SELECT value FROM rules WHERE name = 'polling_mean_ns')
  AND nap_percent >= (SELECT value FROM rules WHERE name = 'polling_percent');
