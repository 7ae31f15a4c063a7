DROP VIEW IF EXISTS doctor_hardware;
CREATE VIEW doctor_hardware AS
-- Question: does the processor wait, for memory or for branches it guessed wrong? One row a run and figure that says
--   something; a figure between good and bad has none. Figures as in the view hardware.
-- Codes, for each figure the first that matches; thresholds are those of the table rules:
--   instructions per cycle: ipc-low: < 1.0 · ipc-good: >= 2.0
--   last-level cache: llc-high: > 20 % missed · llc-moderate: > 10 %
--   branches: branch-high: > 5 % mispredicted
--   The three stand beside each other: a program that misses the cache also has few instructions per cycle, and one is
--   the cause of the other. ipc is compared as it is, percentages as whole numbers (20.4 % is 20 and not high).
-- Severity: that of the advice; but note where fewer than hardware_note_cycles cycles were counted, as starting up
--   outweighs everything in so short a run.
-- counted, events: the two counts that ratio is made of (instructions per cycles, misses per references or branches).
-- Known false positives: a program that mostly sleeps or waits; another process that shares the cache; virtual machines,
--   whose counters are coarse.
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'hardware_ipc_low') AS ipc_low,
        max(value) FILTER (WHERE name = 'hardware_ipc_good') AS ipc_good,
        max(value) FILTER (WHERE name = 'hardware_llc_high_percent') AS llc_high_percent,
        max(value) FILTER (WHERE name = 'hardware_llc_moderate_percent') AS llc_moderate_percent,
        max(value) FILTER (WHERE name = 'hardware_branch_high_percent') AS branch_high_percent,
        max(value) FILTER (WHERE name = 'hardware_note_cycles') AS note_cycles
    FROM rules
),
finding AS (
    SELECT
        run_id, cycles, 'instructions per cycle' AS subject, instructions AS counted, cycles AS events, ipc AS ratio,
        printf('{"ipc":%.3f,"instructions":%d,"cycles":%d}', ipc, instructions, cycles) AS evidence,
        CASE WHEN ipc < (SELECT ipc_low FROM rule) THEN 'ipc-low'
             WHEN ipc >= (SELECT ipc_good FROM rule) THEN 'ipc-good' END AS code
    FROM hardware
    UNION ALL
    SELECT
        run_id, cycles, 'last-level cache', llc_misses, llc_references, 1.0 * llc_misses / nullif(llc_references, 0),
        printf('{"llc_miss_percent":%d,"llc_misses":%d,"llc_references":%d}', llc_miss_percent, llc_misses,
               llc_references),
        CASE WHEN llc_miss_percent > (SELECT llc_high_percent FROM rule) THEN 'llc-high'
             WHEN llc_miss_percent > (SELECT llc_moderate_percent FROM rule) THEN 'llc-moderate' END
    FROM hardware
    UNION ALL
    SELECT
        run_id, cycles, 'branches', branch_misses, branches, 1.0 * branch_misses / nullif(branches, 0),
        printf('{"branch_miss_percent":%d,"branch_misses":%d,"branches":%d}', branch_miss_percent, branch_misses,
               branches),
        CASE WHEN branch_miss_percent > (SELECT branch_high_percent FROM rule) THEN 'branch-high' END
    FROM hardware
)
SELECT
    finding.run_id,
    'hardware' AS section,
    finding.code,
    CASE WHEN finding.code <> 'ipc-good' AND finding.cycles < (SELECT note_cycles FROM rule) THEN 'note'
         ELSE advice.severity END AS severity,
    finding.subject,
    finding.evidence,
    '[]' AS trace_ids,
    advice.text AS advice,
    finding.counted,
    finding.events,
    round(finding.ratio, 4) AS ratio
FROM finding
LEFT JOIN advice ON advice.code = 'hardware-' || finding.code
WHERE finding.code IS NOT NULL;
