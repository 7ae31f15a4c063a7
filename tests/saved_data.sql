-- Three runs of one program a day apart, every kind of profile in the newest, figures that can be added up by hand. Fed to
-- the stock sqlite3 after schema/tables.sql.
INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, exit_status, source) VALUES
    (1, 'aaaaaaaa-0000-4000-8000-000000000001', './app', 'v1', 1700000000000000000, 10000000000, 0, 'profile'),
    (2, 'bbbbbbbb-0000-4000-8000-000000000002', './app', 'v2', 1700086400000000000, 10000000000, 0, 'profile'),
    (3, 'cccccccc-0000-4000-8000-000000000003', './app', 'v3', 1700172800000000000, 20000000000, 0, 'profile');
INSERT INTO tags VALUES (1, 'commit', 'aaa'), (1, 'branch', 'main'), (2, 'commit', 'bbb'), (2, 'branch', 'main'),
    (3, 'commit', 'ccc'), (3, 'branch', 'dev');
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES
    (1, 3, 100, 1, '/bin/app', 1700172800000000000), (2, 3, 101, 100, '/bin/app', 1700172801000000000);
INSERT INTO mappings(id, filename) VALUES (1, '/bin/app'), (2, '/lib/libx.so');
INSERT INTO functions(id, name, filename) VALUES (1, 'main', '/src/main.c'), (2, 'parse', '/src/parse.c'),
    (3, 'table_add', '/src/table.c'), (4, 'cache_put', '/src/cache.c'), (5, 'xmalloc', '/src/mem.c'),
    (6, 'run_job', '/src/job.c');
INSERT INTO locations(id, mapping_id, address) VALUES (1, 1, 1000), (2, 1, 2000), (3, 1, 3000), (4, 2, 4000), (5, 1, 5000),
    (6, 1, 6000);
INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 10), (2, 0, 2, 20), (3, 0, 3, 30),
    (4, 0, 4, 40), (5, 0, 5, 50), (6, 0, 6, 60);
-- Leaf first: 1 parse < main; 2 xmalloc < table_add < parse < main; 3 cache_put < main; 4 run_job < main; 5 table_add < main.
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES
    (1, 1, 101, '[2,1]', 2, 2, 20), (2, 2, 102, '[5,3,2,1]', 3, 3, 30), (3, 3, 103, '[4,1]', 4, 4, 40),
    (4, 4, 104, '[6,1]', 6, 6, 60), (5, 5, 105, '[3,1]', 3, 3, 30);
INSERT INTO label_sets(id, labels) VALUES (1, '[["request","a"],["size",64,"bytes"]]'), (2, '[["request","b"]]');
-- A profile ends with its run and covers all of it. In run 3 there are two of the channels, of 5 s each, and process 101 began 1 s late.
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, dropped, truncated, sample_n) VALUES
    (1, 1, NULL, 'heap', 1700000010000000000, 10000000000, 0, 0, 1), (2, 2, NULL, 'heap', 1700086410000000000, 10000000000, 0, 0, 1),
    (3, 3, 1, 'heap', 1700172820000000000, 20000000000, 7, 2, 1), (4, 3, 1, 'cpu', 1700172820000000000, 20000000000, 0, 0, 1),
    (5, 2, NULL, 'cpu', 1700086410000000000, 10000000000, 0, 0, 10), (6, 3, 1, 'lock', 1700172820000000000, 20000000000, 0, 0, 1),
    (7, 2, NULL, 'lock', 1700086410000000000, 10000000000, 0, 0, 1), (8, 3, 1, 'mvcc', 1700172820000000000, 20000000000, 0, 0, 1),
    (9, 3, 1, 'channels', 1700172805000000000, 5000000000, 0, 0, 1), (10, 3, 1, 'channels', 1700172810000000000, 5000000000, 0, 0, 1),
    (11, 3, 1, 'fibers', 1700172820000000000, 20000000000, 0, 0, 1), (12, 3, 1, 'syscalls', 1700172820000000000, 20000000000, 0, 0, 1),
    (13, 3, 2, 'heap', 1700172820000000000, 19000000000, 0, 0, 1);
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (1, 1, 100, 1000, 100, 1000), (1, 2, 10, 4000, 0, 0), (1, 3, 50, 500, 50, 500),
    (2, 1, 100, 1000, 100, 1000), (2, 2, 20, 8000, 10, 4000),
    (3, 1, 100, 1000, 100, 1000), (3, 2, 30, 12000, 0, 0), (3, 5, 5, 5000, 4, 4000), (13, 1, 10, 100, 10, 100);
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES
    (4, 1, 1, 30, 300000000), (4, 4, 0, 10, 100000000), (4, 2, 2, 20, 200000000), (5, 4, 0, 40, 400000000);
INSERT INTO objects(id, kind, identity, name, trace_id) VALUES
    (1, 'lock', 'symbol:app:g_table+0', 'app:g_table', 0), (2, 'lock', 'heap:3+8', 'cache_put+8', 3),
    (3, 'lock', 'heap:3+72', 'cache_put+72', 3), (4, 'cell', 'symbol:app:g_conf+0', 'app:g_conf', 0),
    (5, 'cell', 'heap:1+0', 'parse+0', 1), (6, 'channel', 'channel:1', 'channel#1', 0);
INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns,
                  read_acquires, read_contended, read_wait_ns, read_max_wait_ns) VALUES
    (6, 1, 100, 'mutex', 1000, 600, 600000000, 5000000, 100000000, 900000, 0, 0, 0, 0),
    (6, 2, 200, 'rwlock', 100, 10, 1000000, 200000, 50000000, 4000000, 900, 90, 9000000, 300000),
    (6, 3, 300, 'mutex', 50, 0, 0, 0, 5000, 500, 0, 0, 0, 0),
    (7, 1, 900, 'mutex', 500, 100, 100000000, 2000000, 50000000, 800000, 0, 0, 0, 0);
-- A queue that run 3 waits for: nine times woken, once at its time limit, once to the end.
INSERT INTO objects(id, kind, identity, name, trace_id) VALUES (7, 'wait', 'symbol:app:g_queue+0', 'app:g_queue', 0);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES (14, 3, 1, 'wait', 1700172820000000000, 20000000000);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, timeouts, unfinished,
                  signals) VALUES
    (14, 7, 400, 2, 'cond', 9, 9, 2000000000, 900000000, 1, 1, 0), (14, 7, 400, 0, 'cond', 0, 0, 0, 0, 0, 0, 9);
-- Of run 3, in two windows: input and output, mappings, and histograms of blocks.
INSERT INTO label_sets(id, labels) VALUES (90, '[["use","anonymous"]]'), (91, '[["use","shared"]]');
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns) VALUES
    (15, 3, 1, 'io', 1700172810000000000, 10000000000), (16, 3, 1, 'io', 1700172820000000000, 10000000000),
    (17, 3, 1, 'mmap', 1700172820000000000, 20000000000), (18, 3, 1, 'lifetimes', 1700172820000000000, 20000000000);
INSERT INTO io(profile_id, trace_id, call, calls, bytes, small_calls, small_bytes, time_ns, timed_calls) VALUES
    (15, 2, 'write', 100, 700, 100, 700, 50000, 100), (16, 2, 'write', 300, 1300, 300, 1300, 150000, 300),
    (16, 2, 'fsync', 2, 0, 0, 0, 8000000, 2), (16, 1, 'read', 40, 40960, 10, 100, 90000, 40);
INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count, unmap_bytes) VALUES
    (17, 2, 'anonymous', 90, 5, 50000, 3, 20000), (17, 1, 'shared', 91, 1, 40960, 0, 0), (17, 5, 'anonymous', 90, 2, 8192, 2, 8192);
INSERT INTO histograms(profile_id, trace_id, histogram, from_value, count) VALUES
    (18, 2, 'size', 64, 30), (18, 2, 'lifetime', 16, 4), (18, 2, 'lifetime', 1024, 5), (18, 2, 'lifetime', 4096, 3), (18, 2, 'passed', 0, 6),
    (18, 2, 'passed', 8, 3), (18, 5, 'lifetime', 2048, 2), (18, 1, 'size', 8, 7);
INSERT INTO cells(profile_id, object_id, address, struct_size, reads, commits, retries, update_failures) VALUES
    (8, 4, 400, 256, 10000, 100, 50, 2), (8, 5, 500, 64, 10, 1000, 0, 0);
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth) VALUES
    (9, 6, 1, 10, 100, 90, 10, 0, 5), (10, 6, 1, 10, 200, 190, 60, 19, 10);
INSERT INTO fibers(profile_id, total_fibers) VALUES (11, 100);
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, max_lifetime_ns, dispatch, form, schedulers, kind, line) VALUES
    (11, 1, 80, 85, 80, 8000000, 500000, 'local', 'stack', '{"0":80,"1":5}', 'BG', 12),
    (11, 2, 20, 15, 0, 0, 0, 'parallel', 'fsm', '{"0":9,"1":6}', 'BG', 30);
INSERT INTO syscalls VALUES (12, 'read', 1000, 5, 2000000), (12, 'write', 10, 0, 8000000);
