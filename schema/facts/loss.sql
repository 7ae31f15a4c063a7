CREATE TABLE loss_facts (
    -- What a run did not record, or recorded in part, by code and subject; and what hints at it: how long the recorder wrote (code slow-flush),
    -- and how often threads waited and no wait was recorded (unseen-waits).
    run_id   INTEGER NOT NULL REFERENCES runs(id) ON DELETE CASCADE, -- [id] the run
    code     TEXT    NOT NULL, -- [text] as in doctor_saturation
    subject  TEXT    NOT NULL, -- [text] the kind of profile, recorder, program, run, or the text of a warning
    count    INTEGER NOT NULL, -- [unit of the code] dropped, truncated, unseen-waits: events, stacks, waits; sampled: N; sampled-bytes:
                               -- bytes; before: bytes; slow-flush, paused, attached: milliseconds; warning: profiles with this text; unfinished: 1
    recorded INTEGER,          -- [count] of code dropped: events of the kind that were recorded; of unseen-waits: waits that were; NULL: unknown
    percent  INTEGER,          -- [percent] of code dropped: the lost events of all events, of which one of a sampled profile counts N times; of
                               -- unseen-waits: the unseen of all; a whole number; NULL: unknown
    PRIMARY KEY (run_id, code, subject)
) STRICT, WITHOUT ROWID;

-- Fill
INSERT INTO loss_facts(run_id, code, subject, count, recorded, percent)
SELECT :run, 'dropped', kind, dropped, CAST(recorded AS INTEGER), CAST(round(100.0 * lost / nullif(lost + recorded, 0)) AS INTEGER)
FROM (SELECT kind, sum(dropped) AS dropped, sum(dropped * max(sample_n, 1)) AS lost,
             CASE kind
                 WHEN 'heap'
                 THEN (SELECT sum(alloc_count + free_count) FROM profiles AS own JOIN sites ON sites.profile_id = own.id
                       WHERE own.run_id = :run AND own.kind = 'heap')
                 WHEN 'lock'
                 THEN (SELECT sum(acquires + read_acquires) FROM profiles AS own JOIN lock_use_facts AS used ON used.profile_id = own.id
                       WHERE own.run_id = :run AND own.kind = 'lock')
                 WHEN 'mvcc'
                 THEN (SELECT sum(reads + commits) FROM profiles AS own JOIN cells ON cells.profile_id = own.id
                       WHERE own.run_id = :run AND own.kind = 'mvcc')
                 WHEN 'channels'
                 THEN (SELECT sum(pushes + pops) FROM profiles AS own JOIN channels ON channels.profile_id = own.id
                       WHERE own.run_id = :run AND own.kind = 'channels')
                 WHEN 'cpu'
                 THEN (SELECT sum(samples) FROM profiles AS own JOIN cpu ON cpu.profile_id = own.id
                       WHERE own.run_id = :run AND own.kind = 'cpu') END AS recorded
      FROM profiles
      WHERE run_id = :run
      GROUP BY kind
      HAVING sum(dropped) > 0);

INSERT INTO loss_facts(run_id, code, subject, count)
SELECT :run, 'truncated', kind, sum(truncated)
FROM profiles
WHERE run_id = :run
GROUP BY kind
HAVING sum(truncated) > 0
UNION ALL
-- Each profile of a recorded run has its own rate (CPU samples and channels have none). An ingested run may have a rate, which is
-- not the rate of profiles by other tools in the same directory.
SELECT :run, 'sampled', kind, max(max(profiles.sample_n, iif(runs.source = 'profile' OR kind IN ('cpu', 'counters', 'syscalls'), 1, runs.sample_n)))
FROM profiles
JOIN runs ON runs.id = profiles.run_id
WHERE run_id = :run
GROUP BY kind
HAVING max(max(profiles.sample_n, iif(runs.source = 'profile' OR kind IN ('cpu', 'counters', 'syscalls'), 1, runs.sample_n))) > 1
UNION ALL
SELECT :run, 'sampled-bytes', kind, max(period)
FROM profiles
WHERE run_id = :run AND kind = 'heap' AND period_type = 'space' AND sample_n <= 1
GROUP BY kind
HAVING max(period) > 1
UNION ALL
SELECT :run, 'slow-flush', 'recorder', CAST(sum(counters.value) AS INTEGER)
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND counters.name = 'recorder.flush_ms'
HAVING count(*) > 0
UNION ALL
SELECT :run, 'paused', 'recorder', CAST(max(counters.value) AS INTEGER)
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND counters.name = 'recorder.paused_ms'
HAVING count(*) > 0
UNION ALL
SELECT :run, 'attached', 'recorder', CAST(max(counters.value) AS INTEGER)
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND counters.name = 'recorder.attached_ms'
HAVING count(*) > 0
UNION ALL
SELECT :run, 'before', CASE counters.name WHEN 'recorder.before_bytes' THEN 'heap' ELSE 'memory' END, CAST(max(counters.value) AS INTEGER)
FROM counters
JOIN profiles ON profiles.id = counters.profile_id
WHERE profiles.run_id = :run AND counters.name IN ('recorder.before_bytes', 'recorder.before_memory_bytes')
GROUP BY counters.name
UNION ALL
SELECT :run, 'unfinished', 'run', 1
FROM runs
WHERE id = :run AND ' ' || flags || ' ' LIKE '% unfinished %'
UNION ALL
SELECT :run, 'warning', ltrim(comment.value, '# '), count(*)
FROM profiles
JOIN json_each(profiles.comments) AS comment
WHERE profiles.run_id = :run AND ltrim(comment.value, '# ') GLOB 'WARNING:*'
GROUP BY ltrim(comment.value, '# ');

INSERT INTO loss_facts(run_id, code, subject, count, recorded, percent)
SELECT :run, 'unseen-waits', 'program', CAST(switches - waits AS INTEGER), CAST(waits AS INTEGER),
       CAST(round(100.0 * (switches - waits) / nullif(switches, 0)) AS INTEGER)
FROM (SELECT max(counters.value) AS switches,
             (SELECT coalesce(sum(contended + read_contended + timeouts + unfinished), 0)
              FROM profiles AS own
              JOIN lock_use_facts AS used ON used.profile_id = own.id
              WHERE own.run_id = :run AND own.kind = 'lock')
             + (SELECT coalesce(sum(contended + timeouts + unfinished), 0)
                FROM profiles AS own
                JOIN wait_use_facts AS used ON used.profile_id = own.id
                WHERE own.run_id = :run)
             + (SELECT coalesce(sum(push_blocked + pop_blocked), 0)
                FROM profiles AS own
                JOIN channel_use_facts AS used ON used.profile_id = own.id
                WHERE own.run_id = :run AND own.kind = 'channels') AS waits
      FROM counters
      JOIN profiles ON profiles.id = counters.profile_id
      WHERE profiles.run_id = :run AND counters.name = 'recorder.voluntary_switches'
        AND EXISTS (SELECT 1 FROM profiles AS own WHERE own.run_id = :run AND own.kind = 'lock'))
WHERE switches > waits;
