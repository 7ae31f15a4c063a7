DROP VIEW IF EXISTS doctor_saturation;
CREATE VIEW doctor_saturation AS
-- Question: is what this run recorded all there was? Whoever reads the other diagnoses must know first.
-- One row a run, code and kind of profile (subject), or a run and text for warnings:
--   dropped: events that could not be recorded (count). truncated: stacks that were cut (count).
--   sampled: every Nth event only was recorded and counted N times (count is N).
--   sampled-bytes: allocations were recorded by chance, one in so many bytes on average (count), scaled up by their odds.
--   slow-flush: the recorder's writing took long beside the program (count is milliseconds): from recorder_flush_ms and
--   recorder_flush_percent of the run on.
--   paused: recording was switched off for part of the run (count is milliseconds).
--   unfinished: the recorder did not see the end of the run (count 1).
--   warning: the artefact itself says "WARNING: ..." (count: in how many profiles; subject: the text).
WITH finding(run_id, code, subject, count) AS (
    SELECT run_id, 'dropped', kind, sum(dropped)
    FROM profiles
    GROUP BY run_id, kind
    HAVING sum(dropped) > 0
    UNION ALL
    SELECT run_id, 'truncated', kind, sum(truncated)
    FROM profiles
    GROUP BY run_id, kind
    HAVING sum(truncated) > 0
    UNION ALL
    -- A recorded run's profiles each know their own rate (CPU samples and channels have none); of an artefact the run may.
    SELECT run_id, 'sampled', kind, max(profiles.sample_n, iif(runs.source = 'profile', 1, runs.sample_n))
    FROM (SELECT run_id, kind, max(sample_n) AS sample_n FROM profiles GROUP BY run_id, kind) AS profiles
    JOIN runs ON runs.id = profiles.run_id
    WHERE max(profiles.sample_n, iif(runs.source = 'profile', 1, runs.sample_n)) > 1
    UNION ALL
    SELECT run_id, 'sampled-bytes', kind, max(period)
    FROM profiles
    WHERE kind = 'heap' AND period_type = 'space' AND sample_n <= 1
    GROUP BY run_id, kind
    HAVING max(period) > 1
    UNION ALL
    SELECT runs.id, 'slow-flush', 'recorder', CAST(counters.value AS INTEGER)
    FROM counters
    JOIN profiles ON profiles.id = counters.profile_id
    JOIN runs ON runs.id = profiles.run_id
    WHERE counters.name = 'recorder.flush_ms'
      AND counters.value >= (SELECT value FROM rules WHERE name = 'recorder_flush_ms')
      AND counters.value * 1e8 >= runs.duration_ns * (SELECT value FROM rules WHERE name = 'recorder_flush_percent')
    UNION ALL
    SELECT profiles.run_id, 'paused', 'recorder', CAST(max(counters.value) AS INTEGER)
    FROM counters
    JOIN profiles ON profiles.id = counters.profile_id
    WHERE counters.name = 'recorder.paused_ms'
    GROUP BY profiles.run_id
    UNION ALL
    SELECT id, 'unfinished', 'run', 1
    FROM runs
    WHERE ' ' || flags || ' ' LIKE '% unfinished %'
    UNION ALL
    SELECT profiles.run_id, 'warning', ltrim(comment.value, '# '), count(*)
    FROM profiles
    JOIN json_each(profiles.comments) AS comment
    WHERE ltrim(comment.value, '# ') GLOB 'WARNING:*'
    GROUP BY profiles.run_id, ltrim(comment.value, '# ')
)
SELECT
    finding.run_id,
    'saturation' AS section,
    finding.code,
    advice.severity,
    finding.subject,
    json_object('count', finding.count) AS evidence,
    '[]' AS trace_ids,
    advice.text AS advice,
    finding.count
FROM finding
LEFT JOIN advice ON advice.code = 'saturation-' || finding.code;
