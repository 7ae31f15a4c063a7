DROP VIEW IF EXISTS doctor_channel;
CREATE VIEW doctor_channel AS
-- Question: which channels make their senders or receivers wait?
-- Rows: one per row of channel_facts. Healthy channels have a row too, with code balanced and severity ok.
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
    judged.run_id,
    'channel' AS section,
    judged.code,
    CASE WHEN judged.code = 'balanced' THEN 'ok'
         WHEN push_blocked_ns + pop_blocked_ns > 0 AND wait_ns < (SELECT value FROM rules WHERE name = 'channel_note_ns')
              OR push_blocked_ns + pop_blocked_ns <= 0 AND blocked < (SELECT value FROM rules WHERE name = 'channel_note_blocked')
         THEN 'note'
         WHEN judged.code = 'slow-producer' AND wait_ns > 0
              AND wait_percent < (SELECT value FROM rules WHERE name = 'channel_starved_percent') THEN 'note'
         WHEN judged.code = 'backpressure'
              AND push_blocked_percent < (SELECT value FROM rules WHERE name = 'channel_blocked_percent') THEN 'note'
         WHEN judged.code = 'slow-consumer'
              AND wait_percent >= (SELECT value FROM rules WHERE name = 'channel_critical_percent') THEN 'critical'
         ELSE judged.severity END AS severity,
    objects.name AS subject,
    json_object('capacity', capacity, 'max_depth', max_depth, 'depth_percent', depth_percent, 'pushes', pushes,
                'push_blocked', push_blocked, 'push_blocked_percent', push_blocked_percent, 'push_blocked_ns', push_blocked_ns,
                'pops', pops, 'pop_blocked', pop_blocked, 'pop_blocked_percent', pop_blocked_percent,
                'pop_blocked_ns', pop_blocked_ns, 'wait_ns', wait_ns) AS evidence,
    CASE WHEN objects.trace_id <> 0 THEN '[' || objects.trace_id || ']' ELSE '[]' END AS trace_ids,
    judged.text AS advice,
    judged.object_id, channel, capacity, max_depth, depth_percent, pushes, push_blocked, push_blocked_percent, push_blocked_ns,
    pops, pop_blocked, pop_blocked_percent, pop_blocked_ns, blocked, wait_ns
FROM (SELECT
          channel_facts.*, advice.severity, advice.text, substr(advice.code, 9) AS code,
          CASE advice.code WHEN 'channel-slow-consumer' THEN push_blocked WHEN 'channel-slow-producer' THEN pop_blocked
                           ELSE push_blocked + pop_blocked END AS blocked,
          CASE advice.code WHEN 'channel-slow-consumer' THEN push_blocked_ns WHEN 'channel-slow-producer' THEN pop_blocked_ns
                           ELSE push_blocked_ns + pop_blocked_ns END AS wait_ns,
          round(100.0 * CASE advice.code WHEN 'channel-slow-consumer' THEN push_blocked_ns ELSE pop_blocked_ns END
                / nullif(run_facts.duration_ns, 0)) AS wait_percent
      FROM channel_facts
      JOIN run_facts ON run_facts.run_id = channel_facts.run_id
      JOIN advice
          ON advice.code = CASE WHEN push_blocked_percent >= (SELECT value FROM rules WHERE name = 'channel_blocked_percent')
                                     AND depth_percent >= (SELECT value FROM rules WHERE name = 'channel_full_percent')
                                THEN 'channel-slow-consumer'
                                WHEN pop_blocked_percent >= (SELECT value FROM rules WHERE name = 'channel_blocked_percent')
                                     AND coalesce(depth_percent, 0) < (SELECT value FROM rules WHERE name = 'channel_empty_percent')
                                THEN 'channel-slow-producer'
                                WHEN push_blocked_percent >= (SELECT value FROM rules WHERE name = 'channel_blocked_percent')
                                     OR pop_blocked_percent >= (SELECT value FROM rules WHERE name = 'channel_blocked_percent')
                                THEN 'channel-backpressure'
                                ELSE 'channel-balanced' END) AS judged
JOIN objects ON objects.id = judged.object_id;
