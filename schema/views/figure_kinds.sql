DROP VIEW IF EXISTS figure_kinds;
CREATE VIEW figure_kinds AS
-- Question: which figures does the view series have, and what is each?
-- Rows: one per figure, in the order in which they are shown.
-- Columns:
--   figure [text]: its name in the view series
--   place [number]: 1, 2, ...: the order
--   heading [text]: its name in tables for people
--   unit [text]: ns, bytes, count; empty: each subject has its own
--   scopes [text]: what it is of, as in the view series, separated by a space: run, function, site, lock, ...
--   profile_kind [text]: the run has recorded it where it has a profile of this kind; empty: that does not depend on a kind
--   adds_up [text]: subjects: that of the whole run is the sum over its subjects; run: it is known of the whole run alone; no: a run has none
--   better [text]: lower, higher, or empty where neither is
--   is_exact [0 or 1]: a program that does the same again has the same value, so that one run on each side can be compared
--   importance [number]: its place in a list of what changed, 1, 2, ...; 0: it is shown only where it changed
--   varies [text]: from run to run of the same program. no: hardly; live: by what threads had not freed yet at the end; events: a little, as
--     counts of events do; counted: much, and by chance at least as counts of events do; much: a time
SELECT 'duration_ns' AS figure, 1 AS place, 'duration' AS heading, 'ns' AS unit, 'run' AS scopes, '' AS profile_kind, 'run' AS adds_up,
       'lower' AS better, 0 AS is_exact, 1 AS importance, 'much' AS varies
UNION ALL
VALUES ('cpu_ns', 2, 'CPU time', 'ns', 'run function site', 'cpu', 'subjects', 'lower', 0, 2, 'much'),
       ('recorder_cpu_ns', 3, 'CPU time of the recorder', 'ns', 'run', 'recorder', 'run', 'lower', 0, 0, 'much'),
       ('alloc_count', 4, 'allocations', 'count', 'run function site', 'heap', 'subjects', 'lower', 1, 3, 'no'),
       ('alloc_bytes', 5, 'allocated', 'bytes', 'run function site', 'heap', 'subjects', 'lower', 1, 4, 'no'),
       ('inuse_count', 6, 'live blocks', 'count', 'run function site', 'heap', 'subjects', 'lower', 1, 0, 'live'),
       ('inuse_bytes', 7, 'live', 'bytes', 'run function site', 'heap', 'subjects', 'lower', 1, 6, 'live'),
       ('peak_bytes', 8, 'peak', 'bytes', 'run function site', 'heap-peak', 'subjects', 'lower', 1, 5, 'no'),
       ('lock_acquires', 9, 'lock operations', 'count', 'run lock', 'lock', 'subjects', '', 1, 0, 'counted'),
       ('lock_contended', 10, 'of them waited', 'count', 'run lock', 'lock', 'subjects', 'lower', 0, 0, 'counted'),
       ('lock_wait_ns', 11, 'lock waits', 'ns', 'run lock', 'lock', 'subjects', 'lower', 0, 7, 'much'),
       ('lock_hold_ns', 12, 'locks held', 'ns', 'run lock', 'lock', 'subjects', 'lower', 0, 0, 'much'),
       ('waits', 13, 'other waits', 'count', 'run wait', 'wait', 'subjects', '', 0, 0, 'counted'),
       ('wait_ns', 14, 'waited', 'ns', 'run wait', 'wait', 'subjects', '', 0, 0, 'much'),
       ('cell_reads', 15, 'cell reads', 'count', 'run cell', 'mvcc', 'subjects', '', 1, 0, 'events'),
       ('cell_commits', 16, 'cell commits', 'count', 'run cell', 'mvcc', 'subjects', '', 1, 0, 'events'),
       ('cell_retries', 17, 'cell retries', 'count', 'run cell', 'mvcc', 'subjects', 'lower', 0, 0, 'counted'),
       ('cell_update_failures', 18, 'updates given up', 'count', 'run cell', 'mvcc', 'subjects', 'lower', 0, 0, 'counted'),
       ('channel_pushes', 19, 'pushes', 'count', 'run channel', 'channels', 'subjects', '', 1, 0, 'counted'),
       ('channel_pops', 20, 'pops', 'count', 'run channel', 'channels', 'subjects', '', 1, 0, 'counted'),
       ('channel_push_blocked', 21, 'pushes blocked', 'count', 'run channel', 'channels', 'subjects', 'lower', 0, 0, 'counted'),
       ('channel_pop_blocked', 22, 'pops blocked', 'count', 'run channel', 'channels', 'subjects', 'lower', 0, 0, 'counted'),
       ('io_calls', 23, 'calls', 'count', 'run function site', 'io', 'subjects', 'lower', 1, 0, 'counted'),
       ('io_bytes', 24, 'read and written', 'bytes', 'run function site', 'io', 'subjects', '', 1, 8, 'counted'),
       ('io_time_ns', 25, 'time in calls', 'ns', 'run function site', 'io', 'subjects', 'lower', 0, 0, 'much'),
       ('syscalls', 26, 'system calls', 'count', 'run syscall', 'syscalls', 'subjects', 'lower', 1, 0, 'counted'),
       ('threads_started', 27, 'threads', 'count', 'run', '', 'run', '', 1, 0, 'no'),
       ('dropped', 28, 'events dropped', 'count', 'run', '', 'run', 'lower', 0, 9, 'much'),
       ('truncated', 29, 'stacks cut', 'count', 'run', '', 'run', 'lower', 0, 0, 'counted'),
       ('findings', 30, 'findings', 'count', 'finding', '', 'no', 'lower', 0, 0, 'no'),
       ('counter', 31, 'counter', '', 'counter', '', 'no', '', 0, 0, 'much'),
       ('sample', 32, 'value', '', 'sample', '', 'no', '', 0, 0, 'much');
