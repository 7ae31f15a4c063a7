-- More for tests/oracle.sh, after export_data.sql: what recordings have by chance or never.
--   3  three windows of a process of `server`, each with mappings of its own, and one of another process that ended before the
--      second: heap, peaks, locks, cells, channels, fibers, CPU; comments, some of them twice
--   4  heap, as 1, of another day; and a CPU profile of nothing, without mappings
--   5  as ingested: ten sample types, a number label of 0, a folded location without a mapping, values of both signs
--   6  as ingested, a snapshot of the same kind
INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, source, content_hash, sample_n) VALUES
    (3, '6f1f9a52-0000-4000-8000-000000000003', './server --again', 'windows', 1700000200000000000, 9000000000, 'profile', NULL, 4),
    (4, '6f1f9a52-0000-4000-8000-000000000004', './server --port 0', NULL, 1600000000000000000, 5000000000, 'profile', NULL, 1),
    (5, '6f1f9a52-0000-4000-8000-000000000005', '', NULL, 1700000300000000000, 1000000000, 'wide.pb.gz', 'aa', 1),
    (6, '6f1f9a52-0000-4000-8000-000000000006', '', NULL, 1700000400000000000, 1000000000, 'wider.pb.gz', 'bb', 1);
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES
    (4, 3, 300, 1, '/opt/server', 1700000200000000000),
    (5, 3, 301, 300, '/opt/other', 1700000201000000000),
    (6, 4, 400, 1, '/opt/server', 1600000000000000000);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, comments, dropped, truncated, sample_n, period, period_type, period_unit)
SELECT 10 * kind.key + number, 3, process, kind.value, 1700000200000000000 + ends, lasts, mappings, comments, lost, cut, 4,
       iif(kind.value = 'cpu', 10000000, 0), iif(kind.value = 'cpu', 'cpu', ''), iif(kind.value = 'cpu', 'nanoseconds', '')
FROM json_each('["","heap","lock","mvcc","channels","fibers","cpu"]') AS kind,
     (SELECT 1 AS number, 4 AS process, 2000000000 AS ends, 2000000000 AS lasts, '[1,2]' AS mappings, '["note","first"]' AS comments, 5 AS lost, 0 AS cut
      UNION ALL SELECT 2, 5, 1500000000, 500000000, '[1,3]', '["of the child"]', 0, 2
      UNION ALL SELECT 3, 4, 5000000000, 3000000000, '[]', '["note","second"]', 6, 1
      UNION ALL SELECT 4, 4, 9000000000, 4000000000, '[3]', '[]', 0, 0)
WHERE kind.value <> '';
INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (11, 1, 0, 100, 6400, 40, 2560), (11, 2, 0, 8, 4096, 0, 0), (11, 1, 1, 3, 99, 0, 0),
    (12, 4, 0, 5, 50, 5, 50), (12, 2, 0, 1, 512, 0, 0),
    (13, 1, 0, 20, 1300, 80, 5140), (13, 2, 0, 0, 0, 8, 4096),
    (14, 3, 0, 2, 20, 1, 10), (14, 1, 1, 0, 0, 1, 33);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, sample_n) VALUES
    (71, 3, 4, 'heap-peak', 1700000203000000000, 3000000000, '[1,2]', 4),
    (72, 3, 5, 'heap-peak', 1700000201500000000, 500000000, '[1,3]', 4);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, sample_n) VALUES
    (73, 3, 4, 'leak', 1700000209000000000, 9000000000, '[1,2]', 1);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, sample_n) VALUES
    (74, 3, 4, 'threads', 1700000209000000000, 9000000000, '[1,2]', 1),
    (75, 3, 5, 'threads', 1700000201500000000, 500000000, '[1,3]', 1);
INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns) VALUES
    (74, 1, 5, 4, 8000000, 7000000, 3, 1000000), (74, 2, 1, 0, 0, 0, 0, 0), (75, 1, 2, 2, 60, 40, 2, 60);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, sample_n) VALUES
    (76, 3, 4, 'spin', 1700000209000000000, 9000000000, '[1,2]', 1);
INSERT INTO spins(profile_id, trace_id, yields, short_sleeps, sleep_ns, failed_tries) VALUES (76, 1, 5, 0, 0, 7), (76, 2, 1, 9, 900000, 0);
INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes, indirect_count, indirect_bytes) VALUES (73, 1, 3, 192, 0, 0), (73, 3, 0, 0, 1, 10);
INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes) VALUES (71, 1, 60, 3840), (71, 2, 8, 4096), (72, 1, 5, 50);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns) VALUES
    (21, 1, 5242880, 0, 'rwlock', 20, 5, 4000, 1000, 8000, 2000, 3, 3, 600, 90),
    (21, 2, 6291456, 2, 'mutex', 10, 0, 0, 0, 900, 400, 0, 0, 0, 0),
    (22, 1, 5242880, 0, 'rwlock', 7, 1, 10, 10, 70, 20, 0, 0, 0, 0),
    (23, 1, 5242880, 0, 'rwlock', 2, 1, 1000, 1000, 80, 40, 30, 4, 60, 9),
    (23, 2, 6291999, 2, 'mutex', 4, 2, 30, 20, 500, 400, 0, 0, 0, 0),
    (24, 2, 6291456, 3, 'mutex', 1, 1, 7, 7, 9, 9, 0, 0, 0, 0);
INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries, update_failures) VALUES
    (31, 3, 5246976, 0, 64, 500, 120, 3, 30, 0), (31, 3, 5246976, 1, 256, 5, 2, 0, 1, 0),
    (32, 3, 5246976, 0, 8, 1, 1, 0, 0, 0),
    (33, 3, 5246976, 0, 256, 10, 7, 0, 2, 0), (33, 3, 5247999, 0, 16, 4, 3, 0, 2, 0);
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns, pop_blocked_ns) VALUES
    (41, 4, 1, 8, 100, 90, 25, 10, 8, 2500, 100), (41, 5, 2, 0, 20, 20, 0, 5, 3, 0, 55),
    (42, 4, 1, 8, 10, 10, 0, 0, 2, 0, 0),
    (43, 4, 1, 64, 50, 60, 2, 0, 5, 7, 0), (44, 5, 2, 0, 1, 1, 0, 0, 1, 0, 0);
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, dispatch, form, kind, line) VALUES
    (51, 7, 40, 80, 39, 5000, 'local', '', '', 0), (51, 8, 1, 1, 1, 10, '', '', '', 0),
    (52, 7, 4, 8, 4, 500, 'local', '', '', 0),
    (53, 7, 2, 4, 3, 90, 'local', 'fsm', 'BG', 12);
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES
    (61, 1, 0, 90, 900000000), (61, 2, 1, 9, 90000000), (62, 4, 0, 3, 30000000), (63, 1, 0, 10, 100000000), (64, 1, 1, 1, 10000000);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings) VALUES
    (80, 4, 6, 'heap', 1600000005000000000, 5000000000, '[2,1]'), (81, 4, 6, 'cpu', 1600000005000000000, 5000000000, '[]');
INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (80, 1, 0, 1000, 64000, 500, 32000), (80, 2, 0, 70, 40960, 0, 0);
INSERT INTO label_sets(id, labels) VALUES (2, '[["none",0],["zero",0,"bytes"],["key","first"],["key","second"],["n",-3]]');
INSERT INTO functions(id, name, system_name, filename, start_line) VALUES (8, 'folded', '_Zfolded', '/src/a.c', 3);
INSERT INTO locations(id, mapping_id, address, is_folded) VALUES (7, 0, -4096, 1), (8, 2, 8192, 1);
INSERT INTO location_lines(location_id, position, function_id, line, "column") VALUES (7, 0, 8, 9, 2), (8, 0, 2, 45, 0);
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES
    (5, 15, 115, '[7,8,5]', 7, 8, 9), (6, 16, 116, '[7,7,1]', 7, 8, 9);
INSERT INTO profiles(id, run_id, kind, time_ns, duration_ns, period, period_type, period_unit, sample_types, default_type, comments, drop_frames,
                     keep_frames, doc_url, mappings) VALUES
    (90, 5, 'wide', 1700000300000000000, 1000, 7, 'tick', 'count', '[["a","count"],["b","count"],["c","count"],["d","count"],["e","count"],["f","count"],["g","count"],["h","bytes"],["i","bytes"],["j","count"]]',
     'i', '["one","two"]', 'dropped_.*', 'kept', 'https://example.org/wide', '[2,1]'),
    (91, 6, 'wide', 1700000400000000000, 1000, 9, 'tick', 'count', '[["a","count"],["b","count"],["c","count"],["d","count"],["e","count"],["f","count"],["g","count"],["h","bytes"],["i","bytes"],["j","count"]]',
     'i', '["two","three"]', 'dropped_.*', 'kept', 'https://example.org/wide', '[3]');
INSERT INTO samples(profile_id, trace_id, label_set_id, v0, v1, v7, more) VALUES
    (90, 5, 2, 1, -2, 8, '[900,-10]'), (90, 2, 0, 3, 0, 0, NULL), (90, 6, 1, 0, 0, 0, '[0,5]'), (90, 1, 0, 0, 0, 0, NULL),
    (91, 5, 2, 10, 2, 8, '[100,10]'), (91, 4, 0, 1, 1, 1, '[1]');
--   7 to 26  recorded runs of one command, more than a header can name
INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, source)
SELECT 7 + value, printf('6f1f9a52-0000-4000-8000-0000000001%02d', value), './server --nightly', 'nightly', 1700000500000000000 + value * 1000000000, 500, 'profile'
FROM generate_series(0, 19);
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns)
SELECT id, id, 1000 + id, 1, '/opt/server', started_ns FROM runs WHERE label = 'nightly';
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, sample_n, truncated)
SELECT 100 + id, id, id, 'channels', started_ns + 500, 500, '[2,1]', 1, id % 2 FROM runs WHERE label = 'nightly';
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, max_depth)
SELECT 100 + id, 4, 1, 16, id, id, 1 FROM runs WHERE label = 'nightly';
--   5 also has a profile of seventy sample types
INSERT INTO profiles(id, run_id, kind, time_ns, sample_types)
SELECT 200, 5, 'type0', 1700000300000000000, json_group_array(json_array('type' || value, 'count')) FROM generate_series(0, 69);
INSERT INTO samples(profile_id, trace_id, v0, v1, v2, v3, v4, v5, v6, v7, more)
SELECT 200, 2, 0, 1, 2, 3, 4, 5, 6, 7, json_group_array(value * value) FROM generate_series(8, 69);
