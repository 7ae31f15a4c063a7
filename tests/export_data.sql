-- A small warehouse with known figures, for the tests of what goes out. Two runs:
--   1  two processes of `server`: heap (labels, an inlined frame, a wrapper at the leaf), locks with and without callers,
--      cells, channels and CPU; 17 dropped samples and 3 truncated stacks
--   2  heap only, of another program, one event of 10 recorded
INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, source, sample_n) VALUES
    (1, '6f1f9a52-0000-4000-8000-000000000001', './server --port 0', 'first', 1700000000000000000, 5000000000, 'profile', 1),
    (2, '6f1f9a52-0000-4000-8000-000000000002', './other', NULL, 1700000100000000000, 1000000000, 'profile', 10);
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES
    (1, 1, 100, 1, '/opt/server', 1700000000000000000),
    (2, 1, 101, 100, '/opt/server', 1700000001000000000),
    (3, 2, 200, 1, '/opt/other', 1700000100000000000);
INSERT INTO mappings(id, filename, build_id, memory_start, memory_limit, file_offset, has_functions) VALUES
    (1, '/lib/libc.so.6', 'c0ffee', 139264, 1400832, 139264, 1),
    (2, '/opt/server', 'abc123', 4096, 65536, 4096, 1),
    (3, '/opt/other', 'def456', 4096, 65536, 4096, 1);
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, mappings, dropped, truncated, sample_n) VALUES
    (1, 1, 1, 'heap', 1700000005000000000, 5000000000, '[2,1]', 17, 3, 1),
    (2, 1, 2, 'heap', 1700000005000000000, 4000000000, '[2,1]', 0, 0, 1),
    (3, 1, 1, 'lock', 1700000005000000000, 5000000000, '[2,1]', 0, 0, 1),
    (4, 1, 1, 'mvcc', 1700000005000000000, 5000000000, '[2,1]', 0, 0, 1),
    (5, 1, 1, 'channels', 1700000005000000000, 5000000000, '[2,1]', 0, 0, 1),
    (6, 1, 1, 'cpu', 1700000005000000000, 5000000000, '[2,1]', 0, 0, 1),
    (7, 2, 3, 'heap', 1700000101000000000, 1000000000, '[3,1]', 0, 0, 10);
INSERT INTO functions(id, name, system_name, filename, start_line) VALUES
    (1, 'main', 'main', '/src/server.cc', 10),
    (2, 'serve', 'serve', '/src/server.cc', 40),
    (3, 'Table::insert(int)', '_ZN5Table6insertEi', '/src/table.cc', 7),
    (4, 'grow', 'grow', '/src/table.h', 3),
    (5, 'operator new(unsigned long)', '_Znwm', '', 0),
    (6, '__libc_start_main', '__libc_start_main', '', 0),
    (7, 'other_main', 'other_main', '/src/other.c', 1);
INSERT INTO locations(id, mapping_id, address) VALUES
    (1, 2, 4660), (2, 2, 8192), (3, 2, 12288), (4, 1, 143360), (5, 1, 147456), (6, 3, 5000);
INSERT INTO location_lines(location_id, position, function_id, line, "column") VALUES
    (1, 0, 1, 12, 5), (2, 0, 2, 44, 0),
    (3, 0, 4, 5, 9), (3, 1, 3, 8, 0), -- grow is inlined into Table::insert
    (4, 0, 5, 0, 0), (5, 0, 6, 0, 0), (6, 0, 7, 2, 0);
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES
    (1, 11, 111, '[4,3,2,1,5]', 3, 4, 5),
    (2, 12, 112, '[2,1,5]', 2, 2, 44),
    (3, 13, 113, '[1,5]', 1, 1, 12),
    (4, 14, 114, '[6,5]', 6, 7, 2);
INSERT INTO label_sets(id, labels) VALUES
    (1, '[["bytes",512,"bytes"],["thread","worker \"1\""]]');
INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (1, 1, 0, 1000, 64000, 400, 25600),
    (1, 1, 1, 10, 640, 10, 640),
    (1, 2, 0, 7, 4096, 7, 4096),
    (1, 3, 0, 1, 1048576, 0, 0),
    (2, 1, 0, 500, 32000, 0, 0),
    (2, 3, 0, 1, 100, 1, 100),
    (7, 4, 0, 30, 3000, 0, 0);
INSERT INTO objects(id, kind, identity, name, trace_id, offset) VALUES
    (1, 'lock', 'symbol:server:g_table_lock+0', 'server:g_table_lock', 0, 0),
    (2, 'lock', 'heap:111+24', 'new_table+24', 2, 24),
    (3, 'cell', 'symbol:server:g_config+0', 'server:g_config', 0, 0),
    (4, 'channel', 'channel:1', 'channel#1', 0, 0),
    (5, 'channel', 'channel:2', 'channel#2', 0, 0);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns,
                  max_hold_ns, read_acquires, read_contended, read_wait_ns, read_max_wait_ns) VALUES
    (3, 1, 5242880, 0, 'rwlock', 2000, 500, 4000000, 1000000, 8000000, 2000000, 300, 30, 60000, 9000),
    (3, 2, 6291456, 2, 'mutex', 100, 10, 70000, 30000, 90000, 40000, 0, 0, 0, 0),
    (3, 2, 6291456, 3, 'mutex', 50, 5, 7000, 3000, 9000, 4000, 0, 0, 0, 0);
INSERT INTO cells(profile_id, object_id, address, trace_id, struct_size, reads, commits, multi_commits, retries,
                  update_failures) VALUES
    (4, 3, 5246976, 0, 256, 5000, 1200, 3, 300, 0);
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth) VALUES
    (5, 4, 1, 64, 1000, 990, 250, 10, 64),
    (5, 5, 2, 0, 20, 20, 0, 5, 3);
INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES
    (6, 1, 90, 909090909), (6, 2, 9, 90909091);
