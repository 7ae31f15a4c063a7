DROP VIEW IF EXISTS doctor_saturation;
CREATE VIEW doctor_saturation AS
-- Question: is what this run recorded all there was? Read these rows before all others.
-- Rows: one per run, code and kind of profile; of warnings one per run and text. Several codes may be true at once.
-- Columns: those of doctor, and
--   count [unit of the code]: dropped, truncated, unseen-waits: events, stacks, waits; sampled: N; sampled-bytes: bytes; slow-flush, paused:
--     milliseconds; warning: profiles with this text; unfinished: 1
--   recorded [count]: of code dropped: events of the kind that were recorded; of unseen-waits: waits that were; NULL: unknown
--   percent [percent]: of code dropped: the lost events of all events; of unseen-waits: the unseen of all; a whole number; NULL:
--     unknown
-- Thresholds (names are rows of the table rules):
--   dropped: events could not be recorded. A note below dropped_note_percent (1 %); of CPU samples below dropped_cpu_note_percent
--     (5 %) or dropped_cpu_note_count (10) samples.
--   truncated: stacks were cut.
--   sampled: only every Nth event was recorded, and counted N times.
--   sampled-bytes: allocations were Poisson-sampled by size; values are unbiased estimates.
--   slow-flush: the recorder wrote for at least recorder_flush_ms (1,000 ms) and recorder_flush_percent (10 %) of the run.
--   paused: recording was switched off for a part of the run.
--   unseen-waits: threads gave the processor away by themselves (voluntary context switches of the program and the children that it
--     waited for) unseen_waits_count (1,000) times or more than waits were recorded, and those are unseen_waits_percent (50 %) of all.
--   unfinished: the recorder did not see the end of the run.
--   warning: the ingested file says "WARNING: ..." itself.
-- Severity: that of the advice, but for the notes above.
-- Known false positives: unseen-waits of a program that reads, writes and sleeps: it waits for nothing that is a lock. dropped counts events, not bytes: what was lost may have been small or large.
SELECT
    run.id AS run_id,
    'saturation' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    substr(finding.key, 91) AS subject,
    finding.value AS evidence,
    '[]' AS trace_ids,
    advice.text AS advice,
    CAST(substr(finding.key, 31, 20) AS INTEGER) AS count,
    CAST(nullif(trim(substr(finding.key, 51, 20)), '') AS INTEGER) AS recorded,
    CAST(nullif(trim(substr(finding.key, 71, 20)), '') AS INTEGER) AS percent
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH found(run_id, code, subject, count) AS (
    SELECT run.id, 'dropped', kind, sum(dropped)
    FROM profiles
    WHERE run_id = run.id
    GROUP BY kind
    HAVING sum(dropped) > 0
    UNION ALL
    SELECT run.id, 'truncated', kind, sum(truncated)
    FROM profiles
    WHERE run_id = run.id
    GROUP BY kind
    HAVING sum(truncated) > 0
    UNION ALL
    -- Each profile of a recorded run has its own rate (CPU samples and channels have none). An ingested run may have a rate, which is
    -- not the rate of profiles by other tools in the same directory.
    SELECT run.id, 'sampled', kind, sample_n
    FROM (SELECT kind, max(max(sample_n),
                           iif(run.source = 'profile' OR kind IN ('cpu', 'counters', 'syscalls'), 1, run.sample_n)) AS sample_n
          FROM profiles
          WHERE run_id = run.id
          GROUP BY kind)
    WHERE sample_n > 1
    UNION ALL
    SELECT run.id, 'sampled-bytes', kind, max(period)
    FROM profiles
    WHERE run_id = run.id AND kind = 'heap' AND period_type = 'space' AND sample_n <= 1
    GROUP BY kind
    HAVING max(period) > 1
    UNION ALL
    SELECT profiles.run_id, 'slow-flush', 'recorder', CAST(sum(counters.value) AS INTEGER)
    FROM counters
    JOIN profiles ON profiles.id = counters.profile_id
    JOIN runs ON runs.id = profiles.run_id
    WHERE profiles.run_id = run.id AND counters.name = 'recorder.flush_ms'
    GROUP BY profiles.run_id
    HAVING sum(counters.value) >= (SELECT value FROM rules WHERE name = 'recorder_flush_ms')
       AND coalesce(round(sum(counters.value) * 1e8 / nullif(max(runs.duration_ns), 0)), 100)
           >= (SELECT value FROM rules WHERE name = 'recorder_flush_percent')
    UNION ALL
    SELECT profiles.run_id, 'paused', 'recorder', CAST(max(counters.value) AS INTEGER)
    FROM counters
    JOIN profiles ON profiles.id = counters.profile_id
    WHERE profiles.run_id = run.id AND counters.name = 'recorder.paused_ms'
    GROUP BY profiles.run_id
    UNION ALL
    SELECT run_id, 'unseen-waits', 'program', CAST(switches - waits AS INTEGER)
    FROM (SELECT profiles.run_id, max(counters.value) AS switches,
                 (SELECT coalesce(sum(contended + read_contended + timeouts + unfinished), 0)
                  FROM profiles AS own
                  JOIN locks ON locks.profile_id = own.id
                  WHERE own.run_id = profiles.run_id AND own.kind IN ('lock', 'wait'))
                 + (SELECT coalesce(sum(push_blocked + pop_blocked), 0)
                    FROM profiles AS own
                    JOIN channels ON channels.profile_id = own.id
                    WHERE own.run_id = profiles.run_id AND own.kind = 'channels') AS waits
          FROM counters
          JOIN profiles ON profiles.id = counters.profile_id
          WHERE profiles.run_id = run.id AND counters.name = 'recorder.voluntary_switches'
            AND EXISTS (SELECT 1 FROM profiles AS own WHERE own.run_id = profiles.run_id AND own.kind = 'lock')
          GROUP BY profiles.run_id)
    WHERE switches - waits >= (SELECT value FROM rules WHERE name = 'unseen_waits_count')
      AND 100 * (switches - waits) >= switches * (SELECT value FROM rules WHERE name = 'unseen_waits_percent')
    UNION ALL
    SELECT id, 'unfinished', 'run', 1
    FROM runs
    WHERE id = run.id AND ' ' || flags || ' ' LIKE '% unfinished %'
    UNION ALL
    SELECT run.id, 'warning', ltrim(comment.value, '# '), count(*)
    FROM profiles
    JOIN json_each(profiles.comments) AS comment
    WHERE profiles.run_id = run.id AND ltrim(comment.value, '# ') GLOB 'WARNING:*'
    GROUP BY ltrim(comment.value, '# ')
),
-- For lost events: how many events of the kind were recorded. A lost event of a sampled profile counts N times too. For unseen waits:
-- how many there were in all.
loss AS (
    SELECT found.*,
           CASE WHEN code = 'dropped'
                THEN (SELECT sum(dropped * max(sample_n, 1)) FROM profiles
                      WHERE profiles.run_id = found.run_id AND kind = subject)
                WHEN code = 'unseen-waits' THEN count END AS lost,
           CASE iif(code = 'dropped', subject, code)
                WHEN 'unseen-waits'
                THEN (SELECT CAST(max(counters.value) AS INTEGER) - found.count
                      FROM counters JOIN profiles ON profiles.id = counters.profile_id
                      WHERE profiles.run_id = found.run_id AND counters.name = 'recorder.voluntary_switches')
                WHEN 'heap'
                THEN (SELECT sum(alloc_count + free_count) FROM profiles JOIN sites ON sites.profile_id = profiles.id
                      WHERE profiles.run_id = found.run_id AND kind = 'heap')
                WHEN 'lock'
                THEN (SELECT sum(acquires + read_acquires) FROM profiles JOIN locks ON locks.profile_id = profiles.id
                      WHERE profiles.run_id = found.run_id AND profiles.kind = 'lock')
                WHEN 'mvcc'
                THEN (SELECT sum(reads + commits) FROM profiles JOIN cells ON cells.profile_id = profiles.id
                      WHERE profiles.run_id = found.run_id AND kind = 'mvcc')
                WHEN 'channels'
                THEN (SELECT sum(pushes + pops) FROM profiles JOIN channels ON channels.profile_id = profiles.id
                      WHERE profiles.run_id = found.run_id AND kind = 'channels')
                WHEN 'cpu'
                THEN (SELECT sum(samples) FROM profiles JOIN cpu ON cpu.profile_id = profiles.id
                      WHERE profiles.run_id = found.run_id AND kind = 'cpu') END AS recorded
    FROM found
),
judged AS (
    SELECT loss.*,
           CAST(round(100.0 * lost / nullif(lost + recorded, 0)) AS INTEGER) AS percent
    FROM loss
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20s%20s%s":', judged.code,
        CASE WHEN percent < (SELECT value FROM rules WHERE name = 'dropped_note_percent') THEN 'note'
             WHEN subject = 'cpu' AND recorded > 0
                  AND (percent < (SELECT value FROM rules WHERE name = 'dropped_cpu_note_percent')
                       OR judged.count < (SELECT value FROM rules WHERE name = 'dropped_cpu_note_count')) THEN 'note'
             ELSE advice.severity END,
        judged.count, coalesce(recorded, ''), coalesce(percent, ''),
        -- the subject, which may be a line of another tool, as the inside of a JSON string
        (WITH RECURSIVE escaped(text, code) AS (
             SELECT replace(replace(judged.subject, '\', '\\'), '"', '\"'), 1
             UNION ALL
             SELECT replace(text, char(code), printf('\u%04x', code)), code + 1 FROM escaped WHERE code < 32)
         SELECT text FROM escaped WHERE code = 32))
    || iif(judged.code IN ('dropped', 'unseen-waits'),
        printf('{"count":%d,"recorded":%s,"percent":%s}', judged.count, coalesce(recorded, 'null'), coalesce(percent, 'null')),
        printf('{"count":%d}', judged.count))) || '}'
FROM judged
LEFT JOIN advice ON advice.code = 'saturation-' || judged.code
)) AS finding
LEFT JOIN advice ON advice.code = 'saturation-' || trim(substr(finding.key, 1, 20));
