-- Runs in which the doctor finds what it rarely finds in a program that is recorded for a test: one section a run. Fed to the stock sqlite3
-- after schema/tables.sql.
INSERT INTO runs(id, uuid, command, started_ns, duration_ns, exit_signal, source)
SELECT value, printf('dddddddd-0000-4000-8000-%012d', value), './section-' || value, 1700000000000000000 + 1000000000000 * value,
       iif(value = 1, 10000000000, 1000000000), iif(value = 3, 15, NULL), 'profile'
FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24]');
INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns, ended_ns)
SELECT id, id, 10, 1, '/bin/x', started_ns, started_ns + duration_ns FROM runs;
INSERT INTO mappings(id, filename) VALUES (1, '/bin/x');
INSERT INTO functions(id, name, filename) SELECT value, 'function_' || value, '/src/x.c' FROM json_each('[1, 2, 3, 4, 5, 7]');
INSERT INTO locations(id, mapping_id, address) SELECT value, 1, 4096 * value FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8]');
-- Location 6 is another line of function_5, location 8 the same line of function_7.
INSERT INTO location_lines(location_id, position, function_id, line)
SELECT id, 0, iif(id = 6, 5, iif(id = 8, 7, id)), iif(id = 8, 70, 10 * id) FROM locations;
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line)
SELECT location_id, location_id, 100 - location_id, '[' || location_id || ']', location_id, function_id, line FROM location_lines;
INSERT INTO objects(id, kind, identity, name)
SELECT key + 1, 'name', 'test of ' || value, 'x:' || value
FROM json_each('["read", "held", "starved", "first", "second", "saved", "channel", "jobs", "q::not_empty", "q::not_full", "all", "futex", "journal", "ledger", "call", "work", "meeting", "free", "seats", "ready"]');

-- 1: heap, in ten windows of 1 s: function_1 grows and frees at the end, _2 has a peak, _3 grows by small steps, _4 makes temporary blocks
INSERT INTO profiles(id, run_id, process_id, kind, time_ns, duration_ns, period)
SELECT 100 + value, 1, 1, 'heap', (SELECT started_ns FROM runs WHERE id = 1) + value * 1000000000, 1000000000, 1
FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]');
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes)
SELECT 100 + value, 1, 1000, 100000, 0, 0 FROM json_each('[1, 2, 3, 4, 5, 6, 7, 8]')
UNION ALL VALUES (110, 1, 0, 0, 8000, 800000), (105, 2, 100, 33554432, 100, 33554432), (105, 3, 5000, 80000000, 5000, 80000000),
                 (106, 4, 2000000, 64000000, 2000000, 64000000);
INSERT INTO site_details(profile_id, trace_id, temporary_count, step_count, step_bytes, realloc_bytes, resized_bytes)
VALUES (105, 3, 0, 2000, 100000000, 101000000, 100000000), (106, 4, 2000000, 0, 0, 0, 0);
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (120, 1, 1, 'heap-peak');
INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes) VALUES (120, 1, 5000, 500000), (120, 2, 100, 33554432);

-- 2: locks that are mostly read, held for long, and waited for long
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (200, 2, 2, 'lock'), (300, 3, 3, 'lock'), (400, 4, 4, 'lock'), (401, 4, 4, 'io');
INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, read_acquires, wait_ns, max_wait_ns, hold_ns, max_hold_ns)
VALUES (200, 1, 64, 'rwlock', 500, 200, 600, 100000, 1000, 50000, 200), (200, 2, 128, 'mutex', 10, 0, 0, 0, 0, 50000000, 5000000),
       (200, 3, 192, 'mutex', 1000, 100, 0, 200000000, 9000000, 10000000, 20000);
-- 3: two locks that are waited for when a signal ends the run; 4: a file is written under a lock
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, hold_ns, max_hold_ns, unfinished)
VALUES (300, 4, 64, 1, 'mutex', 1, 0, 500000000, 500000000, 1000, 1000, 1), (300, 5, 128, 2, 'mutex', 1, 0, 400000000, 400000000, 1000, 1000, 1),
       (400, 6, 64, 5, 'mutex', 100, 50, 50000000, 2000000, 100000000, 2000000, 0);
INSERT INTO io(profile_id, trace_id, call, calls, bytes, time_ns) VALUES (401, 6, 'write', 10, 100000, 80000000);

-- 5: a recorder that was slow and paused, and waits that it did not see; 6: counters; 7: a channel
INSERT INTO profiles(id, run_id, process_id, kind)
VALUES (500, 5, NULL, 'recorder'), (501, 5, 5, 'lock'), (600, 6, NULL, 'counters'), (700, 7, 7, 'channels');
INSERT INTO counters(profile_id, name, value)
VALUES (500, 'recorder.flush_ms', 2000), (500, 'recorder.paused_ms', 500), (500, 'recorder.attached_ms', 60000), (500, 'recorder.before_bytes', 4194304), (500, 'recorder.voluntary_switches', 5000),
       (600, 'cycles', 1000000000), (600, 'instructions', 2500000000), (600, 'cache-references', 1000000), (600, 'cache-misses', 150000);
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, max_depth, push_blocked_ns)
VALUES (700, 7, 1, 10, 1000, 1000, 300, 5, 50000000);

-- 8: many small writes by two stacks of one line, and a third that waits for the disk; 9: threads that live for 0.1 ms, and one that reads a clock
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (800, 8, 8, 'io'), (900, 9, 9, 'threads');
INSERT INTO io(profile_id, trace_id, call, calls, bytes, small_calls, small_bytes, time_ns)
VALUES (800, 7, 'write', 20000, 200000, 20000, 200000, 40000000), (800, 8, 'write', 5000, 50000, 5000, 50000, 10000000),
       (800, 2, 'fsync', 200, 0, 0, 0, 300000000);
INSERT INTO thread_starts(profile_id, trace_id, started, ended, life_ns, max_life_ns, short_count, short_ns)
VALUES (900, 1, 1000, 1000, 100000000, 200000, 900, 80000000);
INSERT INTO functions(id, name) VALUES (20, 'clock_gettime');
INSERT INTO locations(id, mapping_id, address) VALUES (20, 1, 90000);
INSERT INTO location_lines(location_id, position, function_id) VALUES (20, 0, 20);
INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (20, 20, 20, '[20,3,1]', 20, 20);
INSERT INTO label_sets(id, labels) VALUES (1, '[["tid",1]]');
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (901, 9, 9, 'cpu');
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (901, 20, 1, 90, 900000000), (901, 3, 1, 10, 100000000);

-- 10: a queue with one side, one with two, a herd, a lock that is made of a futex, a barrier, a pool, and a queue of two semaphores
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (1000, 10, 10, 'wait'), (1001, 10, NULL, 'recorder'), (1002, 10, 10, 'cpu');
INSERT INTO counters(profile_id, name, value) VALUES (1001, 'recorder.processors', 2), (1001, 'recorder.run_delay_ms', 150);
INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (1002, 1, 10, 100000000);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, max_wait_ns, mutex_address, broadcasts, futile_wakes,
                  signals, own_wakes, woken)
VALUES (1000, 8, 64, 1, 'cond', 200, 200, 200000000, 2000000, 1000, 0, 0, 200, 0, 0),
       (1000, 9, 128, 2, 'cond', 10, 10, 10000000, 2000000, 2000, 0, 0, 10, 0, 0),
       (1000, 10, 192, 3, 'cond', 200, 200, 300000000, 2000000, 2000, 0, 0, 200, 0, 0),
       (1000, 11, 256, 4, 'cond', 1000, 1000, 90000000, 2000000, 3000, 500, 600, 0, 0, 0),
       (1000, 12, 320, 5, 'futex', 200, 200, 50000000, 2000000, 0, 0, 0, 100, 100, 100),
       (1000, 17, 384, 1, 'barrier', 60, 60, 500000000, 20000000, 0, 0, 0, 0, 0, 0),
       (1000, 18, 448, 2, 'sem', 100, 100, 300000000, 20000000, 0, 0, 0, 400, 400, 0),
       (1000, 19, 512, 3, 'sem', 300, 200, 400000000, 20000000, 0, 0, 0, 300, 0, 0),
       (1000, 20, 576, 4, 'sem', 300, 10, 10000000, 20000000, 0, 0, 0, 300, 0, 0);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, first_trace_id) VALUES (1000, 19, 512, 0, 'sem', 10, 3);

-- 11: 24 times five threads wait for one lock at once
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid)
SELECT 11, thread.value, 30000000 * turn.value + thread.value, 8000000 + turn.value + thread.value, 'mutex', 13, 64, 1, 9
FROM json_each('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23]') AS turn
CROSS JOIN json_each('[1, 2, 3, 4, 5]') AS thread;
-- 12: two locks in two orders; 13: calls of a thread that has a lock; 14: one region of 10 ms among 100
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid)
VALUES (12, 1, 0, 100, 'hold', 13, 77, 1, NULL), (12, 1, 50, 10, 'mutex', 14, 88, 2, NULL), (12, 2, 1000, 100, 'hold', 14, 88, 1, NULL),
       (12, 2, 1050, 10, 'hold', 13, 77, 1, NULL);
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid)
SELECT 13, 1, 20000000 * value, 3000000, 'syscall', 15, 0, 2, NULL FROM json_each('[0, 1, 2, 3, 4, 5]')
UNION ALL
SELECT 13, 2, 20000000 * value + 1000000, 5000000, 'mutex', 13, 77, 1, 1 FROM json_each('[0, 1, 2, 3, 4, 5]')
UNION ALL
SELECT 14, 1, 100000000 * (turn.value * 10 + step.value), iif(turn.value = 9 AND step.value = 9, 10000000, 1000000), 'region', 16, 0, 1, NULL
FROM json_each('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]') AS turn
CROSS JOIN json_each('[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]') AS step
UNION ALL
VALUES (14, 1, 9900000005, 3000, 'mutex', 13, 77, 2, NULL);

-- 15: a line that sleeps 500 times; 16: 50,000 mappings that are unmapped again; 17: a loop that only asks memory again
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (1500, 15, 15, 'spin'), (1600, 16, 16, 'mmap'), (1700, 17, 17, 'cpu');
INSERT INTO spins(profile_id, trace_id, naps, nap_ns) VALUES (1500, 1, 500, 600000000);
INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes, unmap_count) VALUES (1600, 1, 'anonymous', 0, 50000, 204800000, 50000);
INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (1700, 1, 0, 90, 900000000), (1700, 2, 0, 10, 100000000);
INSERT INTO spin_loops(process_id, location_id, head, instructions, has_pause) VALUES (17, 1, 1, 2, 1);
-- 18: a line of ten stacks, of which none makes many temporary blocks; 19: a queue that grows; 20: a condition variable whose signals meet nobody
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line)
SELECT 500 + key, 500 + key, 1500 + key, value, 1, 1, 10
FROM json_each('["[1,2]", "[1,3]", "[1,4]", "[1,5]", "[1,6]", "[1,7]", "[1,8]", "[1,2,3]", "[1,2,4]", "[1,2,5]"]');
INSERT INTO profiles(id, run_id, process_id, kind, time_ns)
SELECT value * 100 + part, value, value, iif(part = 1, 'heap-peak', iif(part = 2, 'wait', 'heap')), started_ns + iif(part = 1, 500000000, 1000000000)
FROM json_each('[18, 19, 20]') JOIN runs ON runs.id = value CROSS JOIN (SELECT 0 AS part UNION ALL SELECT 1 UNION ALL SELECT 2)
WHERE value = 19 OR part = iif(value = 18, 0, 2);
INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes)
SELECT 1800, id, 0, 200000, 8000000, 200000, 8000000 FROM traces WHERE id BETWEEN 500 AND 509
UNION ALL VALUES (1900, 1, 0, 10000, 16777216, 10000, 16777216);
INSERT INTO site_details(profile_id, trace_id, temporary_count) SELECT 1800, id, 200000 FROM traces WHERE id BETWEEN 500 AND 509;
INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes) VALUES (1901, 1, 5000, 8388608);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, signals, first_trace_id) VALUES (1902, 20, 8, 0, 'cond', 500, 1);
INSERT INTO locks(profile_id, object_id, address, trace_id, kind, acquires, contended, wait_ns, timeouts, lost_wakes)
VALUES (1902, 20, 8, 3, 'cond', 20, 20, 7, 0, 0), (2002, 20, 8, 1, 'cond', 20, 20, 300000000, 20, 20);
-- 21: a line that measures texts, and one that throws
INSERT INTO mappings(id, filename) VALUES (21, '/lib/libc.so');
INSERT INTO functions(id, name) VALUES (211, 'strlen'), (212, '_Unwind_RaiseException');
INSERT INTO locations(id, mapping_id, address) VALUES (211, 21, 4096), (212, 21, 8192);
INSERT INTO location_lines(location_id, position, function_id) VALUES (211, 0, 211), (212, 0, 212);
INSERT INTO traces(id, hash, signature, stack, location_id, function_id) VALUES (211, 211, 211, '[211,1]', 211, 211), (212, 212, 212, '[212,2]', 212, 212);
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (2100, 21, 21, 'cpu');
INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns) VALUES (2100, 211, 60, 600000000), (2100, 212, 40, 400000000);
INSERT INTO counters(profile_id, name, value) VALUES (2100, 'recorder.cpu_effective_samples', 100);
-- 22: a line of ten stacks that makes tiny blocks; 23: one that loses blocks, two of each stack
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (2200, 22, 22, 'heap'), (2300, 23, 23, 'heap'), (2301, 23, 23, 'leak');
INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes)
SELECT 2200, id, 0, 300000, 2400000, 300000, 2400000 FROM traces WHERE id BETWEEN 500 AND 509
UNION ALL
SELECT 2300, id, 0, 10, 40000, 8, 32000 FROM traces WHERE id BETWEEN 500 AND 509;
INSERT INTO leaks(profile_id, trace_id, lost_count, lost_bytes) SELECT 2301, id, 2, 8000 FROM traces WHERE id BETWEEN 500 AND 509;
-- 24: a heap of 200 MiB for 1,000 blocks
INSERT INTO profiles(id, run_id, process_id, kind) VALUES (2400, 24, 24, 'heap'), (2401, 24, 24, 'heap-peak');
INSERT INTO sites(profile_id, trace_id, label_set_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES (2400, 1, 0, 50000, 100000000, 49000, 99900000);
INSERT INTO heap_peaks(profile_id, trace_id, peak_count, peak_bytes) VALUES (2401, 1, 1000, 100000);
INSERT INTO counters(profile_id, name, value, unit) VALUES (2400, 'process.heap_bytes', 209715200, 'bytes'), (2400, 'process.rss_bytes', 262144000, 'bytes');
