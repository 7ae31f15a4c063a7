DROP VIEW IF EXISTS doctor_cell;
CREATE VIEW doctor_cell AS
-- Question: which versioned cells cost more in copies and retries than they save in waits?
-- Rows: one per cell (run, object, address); its callers and the profiles of the run are summed, of struct_size the greatest is
--   kept. Healthy cells have a row too, with code and severity ok.
-- Columns: those of doctor, and
--   object_id [id]: the cell, in objects
--   address [address]: of the cell in the process
--   struct_size [bytes]: copied by one write
--   reads [count]: reads of a version
--   commits [count]: new versions
--   multi_commits [count]: commits that changed several cells at once
--   retries [count]: copies that were thrown away because another writer was first
--   retries_per_commit [ratio]: retries / commits; NULL: no commits
--   update_failures [count]: updates that gave up after too many retries
--   cow_bytes [bytes]: bytes copied: struct_size * (commits + retries)
-- Thresholds (names are rows of the table rules; the first code that matches wins):
--   cow-thrash: commits >= cell_thrash_commits (10,000), struct_size >= cell_thrash_size_bytes (256 B), cow_bytes >=
--     cell_thrash_cow_bytes (100 MB).
--   misuse: commits >= cell_misuse_commits (1,000), reads < commits.
--   high-retry: retries_per_commit >= cell_retry_ratio (1.0).
--   exhausted: update_failures > 0, also without any commit.
--   atomic-ptr-upgrade: multi_commits = 0, and commits or reads >= cell_upgrade_operations (1,000).
--   ok: all others.
-- Severity: that of the advice, but cow-thrash is critical if cow_bytes >= cell_critical_bytes (10 GB), and high-retry a note if
--   retries < cell_note_retries (1,000).
-- trace_ids: the callers where they were recorded, else the stack that allocated the cell. First the caller with most retries
--   (high-retry), failures (exhausted) or else copies; callers that only read come last.
-- Known false positives: a cell that is filled once at the start and only read after that, in a short run (misuse).
SELECT
    run.id AS run_id,
    'cell' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    objects.name AS subject,
    finding.value AS evidence,
    substr(finding.key, 91) AS trace_ids,
    advice.text AS advice,
    objects.id AS object_id,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS address,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'struct_size') AS INTEGER) AS struct_size,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'reads') AS INTEGER) AS reads,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'commits') AS INTEGER) AS commits,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'multi_commits') AS INTEGER) AS multi_commits,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'retries') AS INTEGER) AS retries,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'retries_per_commit') AS REAL) AS retries_per_commit,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'update_failures') AS INTEGER) AS update_failures,
    CAST(substr(finding.key, 71, 20) AS INTEGER) AS cow_bytes
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
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
        run.id AS run_id, cells.object_id, cells.address, max(struct_size) AS struct_size,
        sum(reads) AS reads, sum(commits) AS commits, sum(multi_commits) AS multi_commits, sum(retries) AS retries,
        sum(update_failures) AS update_failures, sum(struct_size * (commits + retries)) AS cow_bytes
    FROM cells
    JOIN profiles ON profiles.id = cells.profile_id
    WHERE profiles.run_id = run.id
    GROUP BY cells.object_id, cells.address
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
    '{' || group_concat(printf('"%-20s%-10s%20d%20d%20d%s":', judged.code,
        CASE WHEN judged.code = 'cow-thrash' AND cow_bytes >= critical_bytes THEN 'critical'
             WHEN judged.code = 'high-retry' AND retries < note_retries THEN 'note'
             ELSE advice.severity END,
        judged.object_id, judged.address, cow_bytes,
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
                     AND profiles.kind = 'mvcc' -- all cells are of this kind; halves the time for runs with many windows
                     AND cells.object_id = judged.object_id
                     AND cells.address = judged.address
                   GROUP BY 1)
             WHERE trace_id <> 0
             LIMIT 1), '[]'))
    || printf('{"struct_size":%d,"reads":%d,"commits":%d,"multi_commits":%d,"retries":%d,"retries_per_commit":%s,'
           || '"update_failures":%d,"cow_bytes":%d}',
           struct_size, reads, commits, multi_commits, retries,
           coalesce(round(1.0 * retries / nullif(commits, 0), 3), 'null'), update_failures, cow_bytes)) || '}'
FROM judged
JOIN objects ON objects.id = judged.object_id
LEFT JOIN advice ON advice.code = 'cell-' || judged.code
)) AS finding
JOIN objects ON objects.id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'cell-' || trim(substr(finding.key, 1, 20));
