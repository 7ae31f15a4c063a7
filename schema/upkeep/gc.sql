-- The statements of ingest/upkeep/gc.c.

-- @accepted_runs: The runs of which a change was accepted, as a JSON array.
SELECT
    json_group_array(id)
FROM runs
WHERE uuid IN (SELECT run_uuid FROM accepted_changes)

-- @expired: The runs that clear gc may delete, the oldest first, and whether they are too old by the rules: they started before :until, and with
-- :thin (hour, day, week, month; NULL: none stays) a later run of the same command did so in the same hour, day, week or month of UTC.
-- Not among them: runs with a label or a pin, the newest run of each command, and those of the JSON arrays :bases (named as bases of
-- comparisons), :accepted (of which a change was accepted) and :recorded (may be recorded now).
WITH
    named AS (
        SELECT
            id,
            started_ns,
            iif(command = '', source, command) AS program,
            CASE :thin
                WHEN 'hour' THEN strftime('%Y-%m-%dT%H', started_ns / 1000000000, 'unixepoch')
                WHEN 'day' THEN strftime('%Y-%m-%d', started_ns / 1000000000, 'unixepoch')
                WHEN 'week' THEN strftime('%Y-%W', started_ns / 1000000000, 'unixepoch')
                WHEN 'month' THEN strftime('%Y-%m', started_ns / 1000000000, 'unixepoch')
            END AS span
        FROM runs
    ),
    placed AS (
        SELECT
            id,
            started_ns,
            row_number() OVER (PARTITION BY program ORDER BY started_ns DESC, id DESC) AS place,
            started_ns < :until AND (:thin IS NULL
                OR row_number() OVER (PARTITION BY program, span, started_ns < :until ORDER BY started_ns DESC, id DESC) > 1) AS is_expired
        FROM named
    )
SELECT
    id,
    is_expired
FROM placed
WHERE place > 1
  AND id NOT IN (SELECT id FROM runs WHERE label IS NOT NULL)
  AND id NOT IN (SELECT run_id FROM pins)
  AND id NOT IN (SELECT value FROM json_each(:bases))
  AND id NOT IN (SELECT value FROM json_each(:recorded))
  AND id NOT IN (SELECT value FROM json_each(:accepted))
ORDER BY started_ns, id

-- @used: The ids of one table of names that other tables need, for one connection.
CREATE TEMP TABLE IF NOT EXISTS used(id INTEGER PRIMARY KEY) STRICT;
DELETE FROM temp.used;

-- @used_locations: The frames of stacks are no columns, but JSON.
INSERT OR IGNORE INTO temp.used(id)
SELECT frame.value
FROM main.traces
JOIN json_each(traces.stack) AS frame;

-- @used_mappings: The mappings of profiles are no column, but JSON.
INSERT OR IGNORE INTO temp.used(id)
SELECT mapping.value
FROM main.profiles
JOIN json_each(profiles.mappings) AS mapping;
