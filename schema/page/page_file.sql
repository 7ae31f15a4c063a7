-- The statements of serve/page/page_file.c. Where there is :json, it is an answer of the API.

-- @uuid: How a run is named in a file.
SELECT uuid
FROM runs
WHERE id = :run

-- @types: The sample types of an answer of /api/run, those of the highest rank first: 2, the main one of each kind; 1, what :overview shows; 0.
SELECT
    kind.value ->> 'kind' AS kind,
    type.value ->> 'type' AS type,
    CASE WHEN type.value ->> 'type' = kind.value ->> 'default_type' THEN 2
         WHEN EXISTS (SELECT 1 FROM json_each(:overview, '$.functions') AS shown
                      WHERE shown.value ->> 'kind' = kind.value ->> 'kind'
                        AND shown.value ->> 'type' = type.value ->> 'type') THEN 1
         ELSE 0 END AS rank
FROM json_each(:json, '$.kinds') AS kind
JOIN json_each(kind.value, '$.types') AS type
ORDER BY rank DESC, kind.key, type.key

-- @functions: The names of those that cost most in an answer of /api/table, by themselves and with what they call. Names of some thousand
-- letters are left out: all of them are one word of a command.
WITH nodes AS (
    SELECT coalesce(nullif(value ->> 'function', ''), value ->> 'name') AS name,
           abs(value ->> 'flat') AS flat,
           abs(value ->> 'cum') AS cum
    FROM json_each(:json, '$.nodes')
)
SELECT name FROM (SELECT name FROM nodes WHERE length(name) BETWEEN 1 AND 500 ORDER BY flat DESC, name LIMIT :most)
UNION
SELECT name FROM (SELECT name FROM nodes WHERE length(name) BETWEEN 1 AND 500 ORDER BY cum DESC, name LIMIT :most)

-- @stacks: The frames of the stacks that the cards of an answer of /api/findings show, leaf first.
SELECT json_group_array(json_array(trace_id, function, file, line))
FROM (
    SELECT trace_id, function, file, line
    FROM frames
    WHERE trace_id IN (SELECT trace.value
                       FROM json_each(:json) AS finding
                       JOIN json_each(finding.value, '$.trace_ids') AS trace
                       WHERE trace.key < 5)
    ORDER BY trace_id, depth
)

-- @callers_lock: Who used which lock of the run with the uuid :json, as the page Locks asks for one of them.
SELECT json_group_array(json_array(object, function, file, line, stack_of, acquires, contended, wait_ns, hold_ns, read_acquires, read_wait_ns))
FROM (
    SELECT object, function, file, line, stack_of, sum(acquires) AS acquires, sum(contended) AS contended, sum(wait_ns) AS wait_ns,
           sum(hold_ns) AS hold_ns, sum(read_acquires) AS read_acquires, sum(read_wait_ns) AS read_wait_ns
    FROM lock_use
    WHERE run_id = (SELECT id FROM runs WHERE uuid = :json)
    GROUP BY object, function, file, line, stack_of
    ORDER BY contended DESC
)

-- @callers_wait: Who waited for which condition variable, as the page Waits asks for one of them.
SELECT json_group_array(json_array(object, function, file, line, stack_of, passes, waited, timeouts, wait_ns))
FROM (
    SELECT object, function, file, line, stack_of, sum(passes) AS passes, sum(waited) AS waited, sum(timeouts) AS timeouts, sum(wait_ns) AS wait_ns
    FROM wait_use
    WHERE run_id = (SELECT id FROM runs WHERE uuid = :json)
    GROUP BY object, function, file, line, stack_of
    ORDER BY waited DESC
)

-- @callers_channels: Who used which channel, as the page Channels asks for one of them.
SELECT json_group_array(json_array(object, function, file, line, '', pushes, pops, push_blocked_ns, pop_blocked_ns))
FROM (
    SELECT object, function, file, line, sum(pushes) AS pushes, sum(pops) AS pops, sum(push_blocked_ns) AS push_blocked_ns,
           sum(pop_blocked_ns) AS pop_blocked_ns
    FROM channel_use
    WHERE run_id = (SELECT id FROM runs WHERE uuid = :json)
    GROUP BY object, function, file, line
    ORDER BY pops DESC
)

-- @callers_mvcc: Who used which versioned cell, as the page Cells asks for one of them.
SELECT json_group_array(json_array(object, function, file, line, stack_of, reads, commits, retries))
FROM (
    SELECT object, function, file, line, stack_of, sum(reads) AS reads, sum(commits) AS commits, sum(retries) AS retries
    FROM cell_use
    WHERE run_id = (SELECT id FROM runs WHERE uuid = :json)
    GROUP BY object, function, file, line, stack_of
    ORDER BY commits DESC
)

-- @threads: Of the threads of an answer for the timeline, :json, those whose stacks over time the file has: with most samples, then with most events.
SELECT value ->> 'process_id', value ->> 'tid'
FROM json_each(:json)
WHERE value ->> 'samples' > 0 OR value ->> 'events' > 0
ORDER BY value ->> 'samples' DESC, value ->> 'events' DESC, 1, 2
LIMIT 64
