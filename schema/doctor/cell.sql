DROP VIEW IF EXISTS doctor_cell;
CREATE VIEW doctor_cell AS
-- Question: which versioned cells cost more in copies and retries than they save in waits?
-- Rows: one per row of cell_facts. Healthy cells have a row too, with code and severity ok.
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
    cell_facts.run_id,
    'cell' AS section,
    substr(advice.code, 6) AS code,
    CASE WHEN advice.code = 'cell-cow-thrash' AND cow_bytes >= (SELECT value FROM rules WHERE name = 'cell_critical_bytes') THEN 'critical'
         WHEN advice.code = 'cell-high-retry' AND retries < (SELECT value FROM rules WHERE name = 'cell_note_retries') THEN 'note'
         ELSE advice.severity END AS severity,
    objects.name AS subject,
    json_object('struct_size', struct_size, 'reads', reads, 'commits', commits, 'multi_commits', multi_commits, 'retries', retries,
                'retries_per_commit', retries_per_commit, 'update_failures', update_failures, 'cow_bytes', cow_bytes) AS evidence,
    (SELECT '[' || coalesce(group_concat(trace_id), '') || ']'
     FROM (SELECT trace_id,
                  CASE advice.code WHEN 'cell-high-retry' THEN caller.retries WHEN 'cell-exhausted' THEN caller.update_failures
                                   ELSE caller.copies END AS weight
           FROM cell_caller_facts AS caller
           WHERE caller.run_id = cell_facts.run_id AND caller.object_id = cell_facts.object_id AND caller.address = cell_facts.address
           ORDER BY weight DESC, operations DESC, trace_id) AS callers) AS trace_ids,
    advice.text AS advice,
    cell_facts.object_id, address, struct_size, reads, commits, multi_commits, retries, retries_per_commit, update_failures, cow_bytes
FROM cell_facts
JOIN advice
    ON advice.code = CASE WHEN commits >= (SELECT value FROM rules WHERE name = 'cell_thrash_commits')
                               AND struct_size >= (SELECT value FROM rules WHERE name = 'cell_thrash_size_bytes')
                               AND cow_bytes >= (SELECT value FROM rules WHERE name = 'cell_thrash_cow_bytes') THEN 'cell-cow-thrash'
                          WHEN commits >= (SELECT value FROM rules WHERE name = 'cell_misuse_commits') AND reads < commits
                          THEN 'cell-misuse'
                          WHEN 1.0 * retries / nullif(commits, 0) >= (SELECT value FROM rules WHERE name = 'cell_retry_ratio')
                          THEN 'cell-high-retry'
                          WHEN update_failures > 0 THEN 'cell-exhausted'
                          WHEN multi_commits = 0
                               AND (commits >= (SELECT value FROM rules WHERE name = 'cell_upgrade_operations')
                                    OR reads >= (SELECT value FROM rules WHERE name = 'cell_upgrade_operations'))
                          THEN 'cell-atomic-ptr-upgrade'
                          ELSE 'cell-ok' END
JOIN objects ON objects.id = cell_facts.object_id;
