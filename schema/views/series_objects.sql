DROP VIEW IF EXISTS series_objects;
CREATE VIEW series_objects AS
-- Question: what was a figure of a lock, a cell, a channel, or of what threads wait for, in each run?
-- Rows: one per run, figure and name of an object that has it; as in the view series_functions
-- Columns: as those of the view series
--   run_id [id]: the run
--   started_ns [ns since epoch]: start of the run
--   figure [text]: lock_acquires, lock_contended, lock_wait_ns, lock_hold_ns; waits, wait_ns; cell_reads, cell_commits, cell_retries,
--     cell_update_failures; channel_pushes, channel_pops, channel_push_blocked, channel_pop_blocked
--   subject [text]: lock, wait, cell or channel, and the name of the object (objects.name)
--   value [unit of the figure]: the figure, not 0
--   scope [text]: the first word of the subject
SELECT runs.id AS run_id, runs.started_ns, total.figure, 'lock ' || named.name AS subject, +part.value AS value, 'lock' AS scope
FROM (SELECT 'lock_acquires' AS figure UNION ALL VALUES ('lock_contended'), ('lock_wait_ns'), ('lock_hold_ns')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(locks.object_id) AS id,
                                   sum(CASE total.figure WHEN 'lock_acquires' THEN acquires + read_acquires
                                                         WHEN 'lock_contended' THEN contended + read_contended + timeouts + unfinished
                                                         WHEN 'lock_wait_ns' THEN wait_ns + read_wait_ns
                                                         WHEN 'lock_hold_ns' THEN hold_ns END) AS value
                            FROM profiles
                            JOIN locks ON locks.profile_id = profiles.id
                            JOIN objects ON objects.id = locks.object_id
                            WHERE profiles.run_id = runs.id AND profiles.kind <> 'wait'
                            GROUP BY objects.name) AS used
                      WHERE value <> 0)) AS part
JOIN objects AS named ON named.id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, 'wait ' || named.name, +part.value, 'wait'
FROM (SELECT 'waits' AS figure UNION ALL VALUES ('wait_ns')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(locks.object_id) AS id,
                                   sum(CASE total.figure WHEN 'waits' THEN contended + timeouts + unfinished
                                                         WHEN 'wait_ns' THEN wait_ns END) AS value
                            FROM profiles
                            JOIN locks ON locks.profile_id = profiles.id
                            JOIN objects ON objects.id = locks.object_id
                            WHERE profiles.run_id = runs.id AND profiles.kind = 'wait'
                            GROUP BY objects.name) AS used
                      WHERE value <> 0)) AS part
JOIN objects AS named ON named.id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, 'cell ' || named.name, +part.value, 'cell'
FROM (SELECT 'cell_reads' AS figure UNION ALL VALUES ('cell_commits'), ('cell_retries'), ('cell_update_failures')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(cells.object_id) AS id,
                                   sum(CASE total.figure WHEN 'cell_reads' THEN reads
                                                         WHEN 'cell_commits' THEN commits
                                                         WHEN 'cell_retries' THEN retries
                                                         WHEN 'cell_update_failures' THEN update_failures END) AS value
                            FROM profiles
                            JOIN cells ON cells.profile_id = profiles.id
                            JOIN objects ON objects.id = cells.object_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY objects.name) AS used
                      WHERE value <> 0)) AS part
JOIN objects AS named ON named.id = part.key
UNION ALL
SELECT runs.id, runs.started_ns, total.figure, 'channel ' || named.name, +part.value, 'channel'
FROM (SELECT 'channel_pushes' AS figure UNION ALL VALUES ('channel_pops'), ('channel_push_blocked'), ('channel_pop_blocked')) AS total
CROSS JOIN runs
CROSS JOIN json_each((SELECT '{' || group_concat('"' || id || '":' || value) || '}'
                      FROM (SELECT min(channels.object_id) AS id,
                                   sum(CASE total.figure WHEN 'channel_pushes' THEN pushes
                                                         WHEN 'channel_pops' THEN pops
                                                         WHEN 'channel_push_blocked' THEN push_blocked
                                                         WHEN 'channel_pop_blocked' THEN pop_blocked END) AS value
                            FROM profiles
                            JOIN channels ON channels.profile_id = profiles.id
                            JOIN objects ON objects.id = channels.object_id
                            WHERE profiles.run_id = runs.id
                            GROUP BY objects.name) AS used
                      WHERE value <> 0)) AS part
JOIN objects AS named ON named.id = part.key;
