DROP VIEW IF EXISTS doctor_channel;
CREATE VIEW doctor_channel AS
-- Question: which channels make their senders or receivers wait?
-- Rows: one per channel (run, object, number in the process); the profiles of the run are summed, of depth and capacity the
--   greatest is kept. A channel with a name is the same one in all processes of a run. Healthy channels have a row too, with code
--   balanced and severity ok.
-- Columns: those of doctor, and
--   object_id [id]: the channel, in objects
--   channel [number]: its number in the process; 0 for a channel with a name
--   capacity [count]: messages that fit in; 0: no limit, or unknown
--   max_depth [count]: the most messages in it at one time
--   depth_percent [percent]: max_depth of capacity, a whole number; NULL: no capacity is known
--   pushes [count]: messages sent
--   push_blocked [count]: pushes that had to wait
--   push_blocked_percent [percent]: push_blocked of pushes, a whole number
--   push_blocked_ns [ns]: sum of the waits of pushes; 0 in dumps, which have no times
--   pops [count]: messages received
--   pop_blocked [count]: pops that had to wait
--   pop_blocked_percent [percent]: pop_blocked of pops, a whole number
--   pop_blocked_ns [ns]: sum of the waits of pops; 0 in dumps, which have no times
--   blocked [count]: waits that the code is about: of pushes (slow-consumer), of pops (slow-producer), of both (backpressure,
--     balanced)
--   wait_ns [ns]: sum of those waits
-- Thresholds (names are rows of the table rules; the first code that matches wins):
--   slow-consumer: push_blocked_percent >= channel_blocked_percent (20 %), depth_percent >= channel_full_percent (80 %).
--   slow-producer: pop_blocked_percent >= channel_blocked_percent (20 %), depth_percent < channel_empty_percent (50 %) or
--     unknown.
--   backpressure: either >= channel_blocked_percent (20 %).
--   balanced: all others.
-- Severity: that of the advice, but a note if wait_ns < channel_note_ns (1 ms), or, where no time is known, if blocked <
--   channel_note_blocked (100); slow-producer is a note if receivers waited less than channel_starved_percent (10 %) of the run's
--   duration; slow-consumer is critical if senders waited channel_critical_percent (50 %) of it; backpressure is a note if only
--   receivers wait.
-- Known false positives: workers that wait for requests are slow-producer; a sender that is meant to be held back is
--   slow-consumer.
SELECT
    run.id AS run_id,
    'channel' AS section,
    trim(substr(finding.key, 1, 20)) AS code,
    nullif(trim(substr(finding.key, 21, 10)), '') AS severity,
    objects.name AS subject,
    finding.value AS evidence,
    iif(objects.trace_id <> 0, '[' || objects.trace_id || ']', '[]') AS trace_ids,
    advice.text AS advice,
    objects.id AS object_id,
    CAST(substr(finding.key, 51, 20) AS INTEGER) AS channel,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'capacity') AS INTEGER) AS capacity,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'max_depth') AS INTEGER) AS max_depth,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'depth_percent') AS INTEGER) AS depth_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'pushes') AS INTEGER) AS pushes,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'push_blocked') AS INTEGER) AS push_blocked,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'push_blocked_percent') AS INTEGER) AS push_blocked_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'push_blocked_ns') AS INTEGER) AS push_blocked_ns,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'pops') AS INTEGER) AS pops,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'pop_blocked') AS INTEGER) AS pop_blocked,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'pop_blocked_percent') AS INTEGER) AS pop_blocked_percent,
    CAST((SELECT value FROM json_each(finding.value) WHERE key = 'pop_blocked_ns') AS INTEGER) AS pop_blocked_ns,
    CAST(substr(finding.key, 91, 20) AS INTEGER) AS blocked,
    CAST(substr(finding.key, 71, 20) AS INTEGER) AS wait_ns
FROM runs AS run
-- The findings of one run, as in the view doctor_heap: code, severity, numbers of fixed width, and the evidence.
JOIN json_each((
WITH
rule AS (
    SELECT
        max(value) FILTER (WHERE name = 'channel_blocked_percent') AS blocked_percent,
        max(value) FILTER (WHERE name = 'channel_full_percent') AS full_percent,
        max(value) FILTER (WHERE name = 'channel_empty_percent') AS empty_percent,
        max(value) FILTER (WHERE name = 'channel_note_ns') AS note_ns,
        max(value) FILTER (WHERE name = 'channel_note_blocked') AS note_blocked,
        max(value) FILTER (WHERE name = 'channel_starved_percent') AS starved_percent,
        max(value) FILTER (WHERE name = 'channel_critical_percent') AS critical_percent
    FROM rules
),
channel AS (
    SELECT
        run.id AS run_id, channels.object_id, iif(objects.identity GLOB 'name:*', 0, channels.channel) AS channel,
        max(capacity) AS capacity, max(max_depth) AS max_depth, sum(pushes) AS pushes, sum(pops) AS pops,
        sum(push_blocked) AS push_blocked, sum(pop_blocked) AS pop_blocked,
        sum(push_blocked_ns) AS push_blocked_ns, sum(pop_blocked_ns) AS pop_blocked_ns
    FROM channels
    JOIN profiles ON profiles.id = channels.profile_id
    JOIN objects ON objects.id = channels.object_id
    WHERE profiles.run_id = run.id
    GROUP BY channels.object_id, iif(objects.identity GLOB 'name:*', 0, channels.channel)
),
figure AS (
    SELECT
        channel.*,
        coalesce(CAST(round(100.0 * push_blocked / nullif(pushes, 0)) AS INTEGER), 0) AS push_blocked_percent,
        coalesce(CAST(round(100.0 * pop_blocked / nullif(pops, 0)) AS INTEGER), 0) AS pop_blocked_percent,
        CAST(round(100.0 * max_depth / nullif(capacity, 0)) AS INTEGER) AS depth_percent
    FROM channel
),
judged AS (
    SELECT
        figure.*,
        CASE WHEN push_blocked_percent >= blocked_percent AND depth_percent >= full_percent THEN 'slow-consumer'
             WHEN pop_blocked_percent >= blocked_percent AND coalesce(depth_percent, 0) < empty_percent
             THEN 'slow-producer'
             WHEN push_blocked_percent >= blocked_percent OR pop_blocked_percent >= blocked_percent
             THEN 'backpressure'
             ELSE 'balanced' END AS code
    FROM figure
    CROSS JOIN rule
),
weighed AS (
    SELECT
        judged.*,
        CASE code WHEN 'slow-consumer' THEN push_blocked WHEN 'slow-producer' THEN pop_blocked
             ELSE push_blocked + pop_blocked END AS blocked,
        CASE code WHEN 'slow-consumer' THEN push_blocked_ns WHEN 'slow-producer' THEN pop_blocked_ns
             ELSE push_blocked_ns + pop_blocked_ns END AS wait_ns
    FROM judged
)
SELECT
    '{' || group_concat(printf('"%-20s%-10s%20d%20d%20d%20d":', weighed.code,
        CASE WHEN weighed.code = 'balanced' THEN 'ok'
             WHEN iif(push_blocked_ns + pop_blocked_ns > 0, wait_ns < note_ns, blocked < note_blocked) THEN 'note'
             WHEN weighed.code = 'slow-producer' AND wait_ns > 0
                  AND round(100.0 * wait_ns / nullif(runs.duration_ns, 0)) < starved_percent THEN 'note'
             WHEN weighed.code = 'backpressure' AND push_blocked_percent < blocked_percent THEN 'note'
             WHEN weighed.code = 'slow-consumer'
                  AND round(100.0 * wait_ns / nullif(runs.duration_ns, 0)) >= critical_percent THEN 'critical'
             ELSE advice.severity END,
        weighed.object_id, weighed.channel, wait_ns, blocked)
    || printf('{"capacity":%d,"max_depth":%d,"depth_percent":%s,"pushes":%d,"push_blocked":%d,"push_blocked_percent":%d,'
           || '"push_blocked_ns":%d,"pops":%d,"pop_blocked":%d,"pop_blocked_percent":%d,"pop_blocked_ns":%d,"wait_ns":%d}',
           capacity, max_depth, coalesce(depth_percent, 'null'), pushes, push_blocked, push_blocked_percent,
           push_blocked_ns, pops, pop_blocked, pop_blocked_percent, pop_blocked_ns, wait_ns)) || '}'
FROM weighed
JOIN runs ON runs.id = weighed.run_id
CROSS JOIN rule
LEFT JOIN advice ON advice.code = 'channel-' || weighed.code
)) AS finding
JOIN objects ON objects.id = CAST(substr(finding.key, 31, 20) AS INTEGER)
LEFT JOIN advice ON advice.code = 'channel-' || trim(substr(finding.key, 1, 20));
