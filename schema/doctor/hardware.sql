DROP VIEW IF EXISTS doctor_hardware;
CREATE VIEW doctor_hardware AS
-- Question: does the processor wait, for memory or because of mispredicted branches?
-- Rows: one per run and figure that is good or bad; a figure between the two has no row. Several figures may be bad at once,
--   because one causes the other: cache misses lower the instructions per cycle. Figures are those of the view hardware;
--   percentages are compared as whole numbers.
-- Columns: those of doctor, and
--   counted [count]: instructions, misses of the last-level cache, or mispredicted branches
--   events [count]: cycles, references to the last-level cache, or branches
--   ratio [ratio]: counted / events
-- Thresholds (names are rows of the table rules; the first code of each figure that matches wins):
--   ipc-low: instructions per cycle < hardware_ipc_low (1.0). ipc-good: >= hardware_ipc_good (2.0).
--   llc-high: last-level cache misses > hardware_llc_high_percent (20 %). llc-moderate: > hardware_llc_moderate_percent (10 %).
--   branch-high: mispredicted branches > hardware_branch_high_percent (5 %).
-- Severity: that of the advice, but a note with fewer than hardware_note_cycles (100 million) cycles: they are mostly start-up.
-- Known false positives: a program that mostly sleeps; another process that shares the cache; virtual machines with coarse
--   counters.
SELECT
    run_id, 'hardware' AS section, code,
    CASE WHEN code <> 'ipc-good' AND cycles < (SELECT value FROM rules WHERE name = 'hardware_note_cycles') THEN 'note'
         ELSE severity END AS severity,
    subject,
    CASE subject WHEN 'instructions per cycle' THEN json_object('ipc', round(ipc, 3), 'instructions', counted, 'cycles', events)
                 WHEN 'last-level cache'
                 THEN json_object('llc_miss_percent', llc_miss_percent, 'llc_misses', counted, 'llc_references', events)
                 ELSE json_object('branch_miss_percent', branch_miss_percent, 'branch_misses', counted, 'branches', events) END AS evidence,
    '[]' AS trace_ids, text AS advice, counted, events, round(1.0 * counted / nullif(events, 0), 4) AS ratio
FROM (SELECT hardware_facts.*, advice.severity, advice.text, substr(advice.code, 10) AS code,
             CASE substr(advice.code, 10, 3) WHEN 'ipc' THEN 'instructions per cycle' WHEN 'llc' THEN 'last-level cache' ELSE 'branches' END
                 AS subject,
             CASE substr(advice.code, 10, 3) WHEN 'ipc' THEN instructions WHEN 'llc' THEN llc_misses ELSE branch_misses END AS counted,
             CASE substr(advice.code, 10, 3) WHEN 'ipc' THEN cycles WHEN 'llc' THEN llc_references ELSE branches END AS events
      FROM hardware_facts
      JOIN advice
          ON advice.code IN (CASE WHEN ipc < (SELECT value FROM rules WHERE name = 'hardware_ipc_low') THEN 'hardware-ipc-low'
                                  WHEN ipc >= (SELECT value FROM rules WHERE name = 'hardware_ipc_good') THEN 'hardware-ipc-good' END,
                             CASE WHEN llc_miss_percent > (SELECT value FROM rules WHERE name = 'hardware_llc_high_percent')
                                  THEN 'hardware-llc-high'
                                  WHEN llc_miss_percent > (SELECT value FROM rules WHERE name = 'hardware_llc_moderate_percent')
                                  THEN 'hardware-llc-moderate' END,
                             CASE WHEN branch_miss_percent > (SELECT value FROM rules WHERE name = 'hardware_branch_high_percent')
                                  THEN 'hardware-branch-high' END)) AS judged;
