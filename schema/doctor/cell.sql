DROP VIEW IF EXISTS doctor_cell;
CREATE VIEW doctor_cell AS
-- Question: which versioned cells cost more in copies and retries than they save in waiting? One row a cell (run, object,
--   address), its callers and the profiles of the run summed, the greatest struct_size kept; also the healthy ones, with
--   code and severity ok.
-- Figures: cow_bytes: bytes copied, struct_size * (commits + retries). retries_per_commit: NULL without commits.
-- Codes, first match wins; thresholds are those of the table rules:
--   cow-thrash: commits >= 10000, struct_size >= 256 B, cow_bytes >= 100 MB
--   misuse: commits >= 1000 and reads < commits
--   high-retry: retries per commit >= 1.0
--   exhausted: update_failures > 0 (also where nothing was ever committed)
--   atomic-ptr-upgrade: multi_commits = 0, and commits >= 1000 or reads >= 1000 · ok
-- Severity: that of the advice; but cow-thrash is critical from cell_critical_bytes on, and high-retry is a note below
--   cell_note_retries retries.
-- trace_ids: the callers where they were recorded, else the stack that allocated the cell; first who is to be looked at
--   first: most retries (high-retry), most failures (exhausted), else most copies. Who only reads comes last.
-- Known false positives: a cell that is filled once while the program starts and read ever after (misuse, in a short run).
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'cell_thrash_commits') AS thrash_commits,
        max(value) FILTER (WHERE name = 'cell_thrash_size_bytes') AS thrash_size_bytes,
        max(value) FILTER (WHERE name = 'cell_thrash_cow_bytes') AS thrash_cow_bytes,
        max(value) FILTER (WHERE name = 'cell_misuse_commits') AS misuse_commits,
        max(value) FILTER (WHERE name = 'cell_retry_ratio') AS retry_ratio,
        max(value) FILTER (WHERE name = 'cell_upgrade_operations') AS upgrade_operations,
        max(value) FILTER (WHERE name = 'cell_critical_bytes') AS critical_bytes,
        max(value) FILTER (WHERE name = 'cell_note_retries') AS note_retries
    FROM rules
),
cell AS (
    SELECT
        profiles.run_id, cells.object_id, cells.address, max(struct_size) AS struct_size,
        sum(reads) AS reads, sum(commits) AS commits, sum(multi_commits) AS multi_commits, sum(retries) AS retries,
        sum(update_failures) AS update_failures, sum(struct_size * (commits + retries)) AS cow_bytes
    FROM cells
    JOIN profiles ON profiles.id = cells.profile_id
    GROUP BY profiles.run_id, cells.object_id, cells.address
),
judged AS (
    SELECT
        cell.*,
        CASE WHEN commits >= thrash_commits AND struct_size >= thrash_size_bytes AND cow_bytes >= thrash_cow_bytes
             THEN 'cow-thrash'
             WHEN commits >= misuse_commits AND reads < commits THEN 'misuse'
             WHEN 1.0 * retries / nullif(commits, 0) >= retry_ratio THEN 'high-retry'
             WHEN update_failures > 0 THEN 'exhausted'
             WHEN multi_commits = 0 AND (commits >= upgrade_operations OR reads >= upgrade_operations)
             THEN 'atomic-ptr-upgrade'
             ELSE 'ok' END AS code,
        critical_bytes,
        note_retries
    FROM cell
    CROSS JOIN rule
)
SELECT
    judged.run_id,
    'cell' AS section,
    judged.code,
    CASE WHEN judged.code = 'cow-thrash' AND cow_bytes >= critical_bytes THEN 'critical'
         WHEN judged.code = 'high-retry' AND retries < note_retries THEN 'note'
         ELSE advice.severity END AS severity,
    objects.name AS subject,
    printf('{"struct_size":%d,"reads":%d,"commits":%d,"multi_commits":%d,"retries":%d,"retries_per_commit":%s,'
           || '"update_failures":%d,"cow_bytes":%d}',
           struct_size, reads, commits, multi_commits, retries,
           coalesce(round(1.0 * retries / nullif(commits, 0), 3), 'null'), update_failures, cow_bytes) AS evidence,
    coalesce(
        (SELECT '[' || group_concat(trace_id) OVER (
                    ORDER BY weight DESC, operations DESC, trace_id
                    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) || ']'
         FROM (SELECT
                   iif(cells.trace_id <> 0, cells.trace_id, objects.trace_id) AS trace_id,
                   CASE judged.code WHEN 'high-retry' THEN sum(cells.retries)
                        WHEN 'exhausted' THEN sum(cells.update_failures)
                        ELSE sum(cells.commits + cells.retries) END AS weight,
                   sum(cells.reads + cells.commits) AS operations
               FROM profiles
               JOIN cells ON cells.profile_id = profiles.id
               WHERE profiles.run_id = judged.run_id
                 AND profiles.kind = 'mvcc' -- has all cells; saves half the time in runs of many windows
                 AND cells.object_id = judged.object_id
                 AND cells.address = judged.address
               GROUP BY 1)
         WHERE trace_id <> 0
         LIMIT 1), '[]') AS trace_ids,
    advice.text AS advice,
    judged.object_id,
    judged.address,
    struct_size,
    reads,
    commits,
    multi_commits,
    retries,
    round(1.0 * retries / nullif(commits, 0), 3) AS retries_per_commit,
    update_failures,
    cow_bytes
FROM judged
JOIN objects ON objects.id = judged.object_id
LEFT JOIN advice ON advice.code = 'cell-' || judged.code;
