DROP VIEW IF EXISTS doctor_channel;
CREATE VIEW doctor_channel AS
-- Question: which channels make their senders or receivers wait? One row a channel (run, object, number in the process),
--   the profiles of the run summed, the greatest depth and capacity kept; also the healthy ones, code balanced, severity
--   ok. A channel that was given a name is one in all processes of a run.
-- Figures: push_blocked_percent of pushes and pop_blocked_percent of pops had to wait, whole percent. depth_percent:
--   max_depth of capacity, whole percent, NULL where the capacity is unbounded or unknown. wait_ns, blocked: time and
--   number of the waits that the code speaks of (pushes, pops, or both); dumps know no times: 0.
-- Codes, first match wins; thresholds are those of the table rules:
--   slow-consumer: push_blocked >= 20 % and depth >= 80 % of capacity
--   slow-producer: pop_blocked >= 20 % and depth < 50 % (of an unbounded channel: always)
--   backpressure: either >= 20 % · balanced
-- Severity: that of the advice; but note where the waits are shorter than channel_note_ns in all, or, if their time is not
--   known, fewer than channel_note_blocked; a slow producer is a note where receivers waited less than
--   channel_starved_percent of the run's duration; critical where senders waited for a slow consumer
--   channel_critical_percent of it; and backpressure is a note where only receivers wait.
-- Known false positives: workers that wait for work to come are all slow-producer; a sender that is meant to be held back.
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
        profiles.run_id, channels.object_id, iif(objects.identity GLOB 'name:*', 0, channels.channel) AS channel,
        max(capacity) AS capacity, max(max_depth) AS max_depth, sum(pushes) AS pushes, sum(pops) AS pops,
        sum(push_blocked) AS push_blocked, sum(pop_blocked) AS pop_blocked,
        sum(push_blocked_ns) AS push_blocked_ns, sum(pop_blocked_ns) AS pop_blocked_ns
    FROM channels
    JOIN profiles ON profiles.id = channels.profile_id
    JOIN objects ON objects.id = channels.object_id
    GROUP BY profiles.run_id, channels.object_id, iif(objects.identity GLOB 'name:*', 0, channels.channel)
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
    weighed.run_id,
    'channel' AS section,
    weighed.code,
    CASE WHEN weighed.code = 'balanced' THEN 'ok'
         WHEN iif(push_blocked_ns + pop_blocked_ns > 0, wait_ns < note_ns, blocked < note_blocked) THEN 'note'
         WHEN weighed.code = 'slow-producer' AND wait_ns > 0
              AND round(100.0 * wait_ns / nullif(runs.duration_ns, 0)) < starved_percent THEN 'note'
         WHEN weighed.code = 'backpressure' AND push_blocked_percent < blocked_percent THEN 'note'
         WHEN weighed.code = 'slow-consumer'
              AND round(100.0 * wait_ns / nullif(runs.duration_ns, 0)) >= critical_percent THEN 'critical'
         ELSE advice.severity END AS severity,
    objects.name AS subject,
    printf('{"capacity":%d,"max_depth":%d,"depth_percent":%s,"pushes":%d,"push_blocked":%d,"push_blocked_percent":%d,'
           || '"push_blocked_ns":%d,"pops":%d,"pop_blocked":%d,"pop_blocked_percent":%d,"pop_blocked_ns":%d,"wait_ns":%d}',
           capacity, max_depth, coalesce(depth_percent, 'null'), pushes, push_blocked, push_blocked_percent,
           push_blocked_ns, pops, pop_blocked, pop_blocked_percent, pop_blocked_ns, wait_ns) AS evidence,
    iif(objects.trace_id <> 0, '[' || objects.trace_id || ']', '[]') AS trace_ids,
    advice.text AS advice,
    weighed.object_id,
    weighed.channel,
    capacity,
    max_depth,
    depth_percent,
    pushes,
    push_blocked,
    push_blocked_percent,
    push_blocked_ns,
    pops,
    pop_blocked,
    pop_blocked_percent,
    pop_blocked_ns,
    blocked,
    wait_ns
FROM weighed
JOIN runs ON runs.id = weighed.run_id
JOIN objects ON objects.id = weighed.object_id
CROSS JOIN rule
LEFT JOIN advice ON advice.code = 'channel-' || weighed.code;
