-- Three runs with figures that can be added up by hand. Fed to the stock sqlite3 after schema/tables.sql.
INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, exit_status, exit_signal, source, flags) VALUES
    (1, 'aaaaaaaa-0000-4000-8000-000000000001', './server --port 0', 'base', 1700000000000000000, 1300000000, 0, NULL, 'profile', ''),
    (2, 'bbbbbbbb-0000-4000-8000-000000000002', './server "x y"', 'base', 1700000100000000000, 65000000000, NULL, 9, 'profile', 'unfinished'),
    (3, 'bbbbbbbb-1111-4000-8000-000000000003', '', NULL, 1600000000000000000, 0, NULL, NULL, 'prod/x.pb.gz', '');
INSERT INTO tags VALUES (1, 'commit', 'abc'), (3, 'commit', 'abc'), (3, 'branch', 'main');
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (1, 1, 10, 1, '/bin/server', 1700000000000000000);
INSERT INTO mappings(id, filename) VALUES (1, '/bin/server');
INSERT INTO functions(id, name, filename) VALUES (1, 'xmalloc', '/src/mem.c'), (2, 'insert_row', '/src/table.c'),
    (3, 'main', '/src/main.c'),
    (4, 'größe::größe<std::map<std::string, std::vector<int>, std::less<std::string>, std::allocator<std::pair<const std::string, int>>>>', '');
INSERT INTO locations(id, mapping_id, address) VALUES (1, 1, 4096), (2, 1, 4200), (3, 1, 5000), (4, 1, 6000), (5, 1, 7000);
INSERT INTO location_lines(location_id, position, function_id, line) VALUES (1, 0, 1, 10), (2, 0, 2, 42), (3, 0, 3, 7), (4, 0, 4, 0);
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES
    (1, 1, 1, '[1,2,3]', 2, 2, 42), (2, 2, 2, '[4,3]', 4, 4, 0), (3, 3, 3, '[5,3]', 5, NULL, 0);
INSERT INTO profiles(id, run_id, process_id, kind, period, dropped) VALUES
    (1, 1, 1, 'heap', 1, 1234), (2, 1, 1, 'lock', 1, 0), (3, 2, NULL, 'heap', 1, 0);
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (1, 1, 20000, 3000000, 200, 30000), (1, 2, 500, 50000, 10, 1000), (1, 3, 5, 50, 4, 40), (3, 1, 10, 100, 10, 100);
INSERT INTO objects(id, kind, identity, name, trace_id) VALUES
    (1, 'lock', 'symbol:server:g_lock+0', 'server:g_lock', 0), (2, 'lock', 'heap:1+8', 'insert_row+8', 1), (3, 'lock', 'address:0x5', '0x5', 0);
INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns, read_acquires) VALUES
    (2, 1, 100, 'mutex', 5000, 2500, 400000000, 3000000, 600000000, 9000000, 0),
    (2, 2, 200, 'rwlock', 100, 50, 4000000, 100000, 500, 10, 20),
    (2, 3, 300, 'mutex', 10, 0, 0, 0, 10, 1, 0);
