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
--   varies [text]: from run to run of the same program. no: hardly; live: by what threads had not freed yet at the end; events: a little, as
--     counts of events do; counted: much, and by chance at least as counts of events do; much: a time
SELECT 'duration_ns' AS figure, 1 AS place, 'duration' AS heading, 'ns' AS unit, 'run' AS scopes, '' AS profile_kind, 'run' AS adds_up,
       'lower' AS better, 'much' AS varies
UNION ALL
VALUES ('cpu_ns', 2, 'CPU time', 'ns', 'run function site', 'cpu', 'subjects', 'lower', 'much'),
       ('recorder_cpu_ns', 3, 'CPU time of the recorder', 'ns', 'run', 'recorder', 'run', 'lower', 'much'),
       ('alloc_count', 4, 'allocations', 'count', 'run function site', 'heap', 'subjects', 'lower', 'no'),
       ('alloc_bytes', 5, 'allocated', 'bytes', 'run function site', 'heap', 'subjects', 'lower', 'no'),
       ('inuse_count', 6, 'live blocks', 'count', 'run function site', 'heap', 'subjects', 'lower', 'live'),
       ('inuse_bytes', 7, 'live', 'bytes', 'run function site', 'heap', 'subjects', 'lower', 'live'),
       ('peak_bytes', 8, 'peak', 'bytes', 'run function site', 'heap-peak', 'subjects', 'lower', 'no'),
       ('lock_acquires', 9, 'lock operations', 'count', 'run lock', 'lock', 'subjects', '', 'counted'),
       ('lock_contended', 10, 'of them waited', 'count', 'run lock', 'lock', 'subjects', 'lower', 'counted'),
       ('lock_wait_ns', 11, 'lock waits', 'ns', 'run lock', 'lock', 'subjects', 'lower', 'much'),
       ('lock_hold_ns', 12, 'locks held', 'ns', 'run lock', 'lock', 'subjects', 'lower', 'much'),
       ('waits', 13, 'other waits', 'count', 'run wait', 'wait', 'subjects', '', 'counted'),
       ('wait_ns', 14, 'waited', 'ns', 'run wait', 'wait', 'subjects', '', 'much'),
       ('cell_reads', 15, 'cell reads', 'count', 'run cell', 'mvcc', 'subjects', '', 'events'),
       ('cell_commits', 16, 'cell commits', 'count', 'run cell', 'mvcc', 'subjects', '', 'events'),
       ('cell_retries', 17, 'cell retries', 'count', 'run cell', 'mvcc', 'subjects', 'lower', 'counted'),
       ('cell_update_failures', 18, 'updates given up', 'count', 'run cell', 'mvcc', 'subjects', 'lower', 'counted'),
       ('channel_pushes', 19, 'pushes', 'count', 'run channel', 'channels', 'subjects', '', 'counted'),
       ('channel_pops', 20, 'pops', 'count', 'run channel', 'channels', 'subjects', '', 'counted'),
       ('channel_push_blocked', 21, 'pushes blocked', 'count', 'run channel', 'channels', 'subjects', 'lower', 'counted'),
       ('channel_pop_blocked', 22, 'pops blocked', 'count', 'run channel', 'channels', 'subjects', 'lower', 'counted'),
       ('io_calls', 23, 'calls', 'count', 'run function site', 'io', 'subjects', 'lower', 'counted'),
       ('io_bytes', 24, 'read and written', 'bytes', 'run function site', 'io', 'subjects', '', 'counted'),
       ('io_time_ns', 25, 'time in calls', 'ns', 'run function site', 'io', 'subjects', 'lower', 'much'),
       ('syscalls', 26, 'system calls', 'count', 'run syscall', 'syscalls', 'subjects', 'lower', 'counted'),
       ('threads_started', 27, 'threads', 'count', 'run', '', 'run', '', 'no'),
       ('dropped', 28, 'events dropped', 'count', 'run', '', 'run', 'lower', 'much'),
       ('truncated', 29, 'stacks cut', 'count', 'run', '', 'run', 'lower', 'counted'),
       ('findings', 30, 'findings', 'count', 'finding', '', 'no', 'lower', 'no'),
       ('counter', 31, 'counter', '', 'counter', '', 'no', '', 'much'),
       ('sample', 32, 'value', '', 'sample', '', 'no', '', 'much');
