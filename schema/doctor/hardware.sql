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
    run.id AS run_id,
    'hardware' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    CASE WHEN trim(substr(finding.key, 1, 20)) GLOB 'ipc*' THEN 'instructions per cycle'
         WHEN trim(substr(finding.key, 1, 20)) GLOB 'llc*' THEN 'last-level cache'
         ELSE 'branches' END AS subject,
    finding.value AS evidence,
    '[]' AS trace_ids,
    advice.text AS advice,
    CAST(substr(finding.key, 31, 20) AS INTEGER) AS counted,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS events,
    round(1.0 * CAST(substr(finding.key, 31, 20) AS INTEGER) / CAST(substr(finding.key, 51, 20) AS INTEGER), 4) AS ratio
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
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
judged AS (
    SELECT
        cycles, 'instructions per cycle' AS subject, instructions AS counted, cycles AS events, ipc AS ratio,
        printf('{"ipc":%.3f,"instructions":%d,"cycles":%d}', ipc, instructions, cycles) AS evidence,
        CASE WHEN ipc < (SELECT ipc_low FROM rule) THEN 'ipc-low'
             WHEN ipc >= (SELECT ipc_good FROM rule) THEN 'ipc-good' END AS code
    FROM hardware
    WHERE hardware.run_id = run.id
    UNION ALL
    SELECT
        cycles, 'last-level cache', llc_misses, llc_references, 1.0 * llc_misses / nullif(llc_references, 0),
        printf('{"llc_miss_percent":%d,"llc_misses":%d,"llc_references":%d}', llc_miss_percent, llc_misses,
               llc_references),
        CASE WHEN llc_miss_percent > (SELECT llc_high_percent FROM rule) THEN 'llc-high'
             WHEN llc_miss_percent > (SELECT llc_moderate_percent FROM rule) THEN 'llc-moderate' END
    FROM hardware
    WHERE hardware.run_id = run.id
    UNION ALL
    SELECT
        cycles, 'branches', branch_misses, branches, 1.0 * branch_misses / nullif(branches, 0),
        printf('{"branch_miss_percent":%d,"branch_misses":%d,"branches":%d}', branch_miss_percent, branch_misses,
               branches),
        CASE WHEN branch_miss_percent > (SELECT branch_high_percent FROM rule) THEN 'branch-high' END
    FROM hardware
    WHERE hardware.run_id = run.id
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d":', judged.code,
        CASE WHEN judged.code <> 'ipc-good' AND judged.cycles < (SELECT note_cycles FROM rule) THEN 'note'
             ELSE advice.severity END,
        counted, events)
    || evidence) || '}'
FROM judged
LEFT JOIN advice ON advice.code = 'hardware-' || judged.code
WHERE judged.code IS NOT NULL
)) AS finding
LEFT JOIN advice ON advice.code = 'hardware-' || trim(substr(finding.key, 1, 20));
