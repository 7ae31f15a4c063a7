-- Seven runs of one program whose figures can be worked out by hand. Fed to the stock sqlite3 after schema/tables.sql and the
-- views. Runs 1..3 are the old side, 4..6 the new one, 7 is one more of the old. Two things are as in real warehouses and
-- easily got wrong: a run has several profiles of a kind (windows, processes), and one site has another stack in each build.
INSERT INTO runs(id, uuid, command, label, started_ns, duration_ns, exit_status, source, flags)
SELECT value, printf('%08d-0000-4000-8000-000000000000', value), './server', iif(value IN (4, 5, 6), 'new', 'old'),
       1700000000000000000 + value * 1000000000, 2000000000 + value, 0, 'profile', ''
FROM json_each('[1, 2, 3, 4, 5, 6, 7]');
INSERT INTO tags SELECT id, 'branch', iif(label = 'new', 'feature/x', 'main') FROM runs;
INSERT INTO mappings(id, filename, build_id) VALUES (1, '/opt/a/server', 'aa'), (2, '/home/b/server', 'bb');
INSERT INTO functions(id, name, filename) VALUES
    (1, 'main', '/a/main.c'), (2, 'parse', '/a/parse.c'), (3, 'cache_put', '/a/cache.c'), (4, 'steady', '/a/s.c'), (5, 'noisy', '/a/n.c'),
    (6, 'old_only', '/a/o.c'), (7, 'new_only', '/b/n2.c'), (8, 'rare', '/a/r.c'),
    (11, 'main', '/b/main.c'), (12, 'parse', '/b/parse.c');
-- Location N is function N; main is in every stack. Traces 12 and 2 are one site in two builds: their signature is equal.
INSERT INTO locations(id, mapping_id, address) SELECT id, iif(id > 10, 2, 1), id * 100 FROM functions;
INSERT INTO location_lines(location_id, position, function_id, line) SELECT id, 0, id, id * 10 FROM functions;
INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line)
SELECT id, id, id % 10, printf('[%d,%d]', id, iif(id > 10, 11, 1)), id, id, id * 10 FROM functions WHERE id NOT IN (1, 11);
-- Two windows of heap a run.
INSERT INTO profiles(id, run_id, kind, period) SELECT id * 10, id, 'heap', 1 FROM runs;
INSERT INTO profiles(id, run_id, kind, period) SELECT id * 10 + 1, id, 'heap', 1 FROM runs;
INSERT INTO profiles(id, run_id, kind, period) SELECT id * 10 + 2, id, 'lock', 1 FROM runs;
INSERT INTO profiles(id, run_id, kind, period) SELECT id * 10 + 3, id, 'mvcc', 1 FROM runs;
INSERT INTO profiles(id, run_id, kind, period) SELECT id * 10 + 4, id, 'cpu', 1 FROM runs;
UPDATE profiles SET dropped = 5 WHERE id IN (10, 20);
-- parse: 1100, 1200, 1300 bytes before (the first in two windows), 2200, 2400, 2600 after, by the other build's stack.
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (10, 2, 5, 400, 0, 0), (11, 2, 5, 700, 10, 1100), (20, 2, 10, 1200, 10, 1200), (30, 2, 10, 1300, 10, 1300), (70, 2, 10, 1250, 10, 1250),
    (40, 12, 10, 1500, 0, 0), (41, 12, 10, 700, 20, 2200), (50, 12, 20, 2400, 20, 2400), (60, 12, 20, 2600, 10, 1300);
-- steady never changes; noisy differs in the mean by a third, and more within each side; rare is in one new run alone.
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes)
SELECT id * 10, 4, 100, 100000, 100, 100000 FROM runs;
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes) VALUES
    (10, 5, 1, 100, 1, 100), (20, 5, 1, 900, 1, 900), (30, 5, 1, 200, 1, 200), (70, 5, 1, 400, 1, 400),
    (40, 5, 1, 1000, 1, 1000), (50, 5, 1, 200, 1, 200), (60, 5, 1, 400, 1, 400),
    (60, 8, 1, 64, 1, 64);
INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes, free_count, free_bytes)
SELECT id * 10, iif(label = 'new', 7, 6), iif(label = 'new', 4, 8), iif(label = 'new', 4096, 512), 0, 0 FROM runs;
INSERT INTO objects(id, kind, identity, name) VALUES
    (1, 'lock', 'symbol:server:g_new+0', 'server:g_new'), (2, 'lock', 'symbol:server:g_gone+0', 'server:g_gone'),
    (3, 'lock', 'symbol:server:g_worse+0', 'server:g_worse'), (4, 'lock', 'symbol:server:g_better+0', 'server:g_better'),
    (5, 'lock', 'symbol:server:g_quiet+0', 'server:g_quiet'), (6, 'lock', 'symbol:server:g_noise+0', 'server:g_noise'),
    (7, 'lock', 'symbol:server:g_added+0', 'server:g_added'),
    (11, 'cell', 'name:storm', 'storm'), (12, 'cell', 'name:calm', 'calm'), (13, 'cell', 'name:more', 'more'), (14, 'cell', 'name:less', 'less'),
    (15, 'cell', 'name:idle', 'idle');
-- Object, then for each side: operations, waited, ns waited; the second address of g_worse is added to the first.
CREATE TEMP TABLE lock_plan(object, side, operations, waited, wait_ns);
INSERT INTO lock_plan VALUES
    (1, 'old', 1000, 0, 0), (1, 'new', 1000, 500, 5000000), (2, 'old', 1000, 300, 3000000), (2, 'new', 1000, 0, 0),
    (3, 'old', 1000, 100, 1000000), (3, 'new', 1000, 110, 9000000), (4, 'old', 1000, 100, 8000000), (4, 'new', 1000, 90, 2000000),
    (5, 'old', 1000, 0, 0), (5, 'new', 1000, 0, 0), (6, 'old', 1000, 100, 1000000), (6, 'new', 1000, 100, 1400000), (7, 'new', 10, 0, 0);
INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns)
SELECT runs.id * 10 + 2, object, 100 + object, 'mutex', operations, waited,
       iif(object = 6, wait_ns * (1 + runs.id % 3), wait_ns + iif(wait_ns > 0, runs.id * 1000, 0))
FROM runs JOIN lock_plan ON side = label;
INSERT INTO locks(profile_id, object_id, address, kind, read_acquires, read_contended, read_wait_ns)
SELECT id * 10 + 2, 3, 999, 'rwlock', 1000, 10, 500 FROM runs;
CREATE TEMP TABLE cell_plan(object, side, commits, retries);
INSERT INTO cell_plan VALUES
    (11, 'old', 1000, 10), (11, 'new', 1000, 3000), (12, 'old', 1000, 400), (12, 'new', 1000, 0),
    (13, 'old', 1000, 100), (13, 'new', 1000, 300), (14, 'old', 1000, 300), (14, 'new', 1000, 100), (15, 'old', 5, 0), (15, 'new', 5, 0);
INSERT INTO cells(profile_id, object_id, address, struct_size, reads, commits, retries)
SELECT runs.id * 10 + 3, object, object, 64, 10, commits, retries + iif(retries > 0, runs.id % 2, 0)
FROM runs JOIN cell_plan ON side = label;
INSERT INTO cpu(profile_id, trace_id, samples, cpu_ns)
SELECT id * 10 + 4, 4, 100 + id % 3, (100 + id % 3) * 10000000 FROM runs
UNION ALL SELECT id * 10 + 4, iif(label = 'new', 12, 2), iif(label = 'new', 80, 40) + id % 2, (iif(label = 'new', 80, 40) + id % 2) * 10000000 FROM runs;
-- Channels, in two windows each: the first has a third of all but the depth, which rises in the second.
INSERT INTO objects(id, kind, identity, name) VALUES
    (21, 'channel', 'name:jobs', 'jobs'), (22, 'channel', 'name:freed', 'freed'), (23, 'channel', 'channel:1', 'channel#1'),
    (24, 'channel', 'channel:2', 'channel#2'), (25, 'channel', 'name:idle', 'idle'), (26, 'channel', 'name:added', 'added');
CREATE TEMP TABLE channel_plan(object, side, operations, push_blocked, pop_blocked, wait_ns, max_depth);
INSERT INTO channel_plan VALUES
    (21, 'old', 900, 0, 0, 0, 3), (21, 'new', 900, 300, 150, 6000000, 16), (22, 'old', 900, 90, 210, 3000000, 9), (22, 'new', 900, 0, 0, 0, 2),
    (23, 'old', 900, 90, 0, 900000, 8), (23, 'new', 900, 120, 0, 9000000, 8), (24, 'old', 900, 90, 0, 9000000, 8), (24, 'new', 900, 60, 0, 900000, 8),
    (25, 'old', 90, 0, 0, 0, 1), (25, 'new', 90, 0, 0, 0, 1), (26, 'new', 30, 0, 0, 0, 1);
INSERT INTO profiles(id, run_id, kind, period) SELECT 1000 + runs.id * 10 + value, runs.id, 'channels', 1 FROM runs, json_each('[0, 1]');
INSERT INTO channels(profile_id, object_id, channel, capacity, pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns, pop_blocked_ns)
SELECT 1000 + runs.id * 10 + value, object, runs.id, 16, operations / 3 * (1 + value), operations / 3 * (1 + value), push_blocked / 3 * (1 + value),
       pop_blocked / 3 * (1 + value), max_depth * value, wait_ns / 3 * (1 + value), iif(wait_ns > 0, runs.id * 300 * value, 0)
FROM runs JOIN channel_plan ON side = label JOIN json_each('[0, 1]');
-- Task sites: site 1 lives twice as long, 2 is spawned twice as often and lives as long in all, 3 is new, 4 is gone, 5 is as it was.
CREATE TEMP TABLE task_plan(site, side, spawns, lifetime_ns);
INSERT INTO task_plan VALUES
    (1, 'old', 100, 4000000), (1, 'new', 100, 8000000), (2, 'old', 10, 5000000), (2, 'new', 20, 5000000), (3, 'new', 7, 700),
    (4, 'old', 9, 900), (5, 'old', 50, 100), (5, 'new', 50, 100);
INSERT INTO profiles(id, run_id, kind, period) SELECT 2000 + runs.id * 10 + value, runs.id, 'fibers', 1 FROM runs, json_each('[0, 1]');
INSERT INTO task_sites(profile_id, site, spawns, runs, exits, total_lifetime_ns, kind, line)
SELECT 2000 + runs.id * 10, site, spawns, spawns * 2, spawns, lifetime_ns + runs.id % 2, 'BG', iif(side = 'old', 10, 20) + site
FROM runs JOIN task_plan ON side = label;
INSERT INTO fibers(profile_id, total_fibers) SELECT 2000 + runs.id * 10, sum(spawns) FROM runs JOIN task_plan ON side = label GROUP BY runs.id;
INSERT INTO fibers(profile_id, total_fibers) SELECT 2000 + id * 10 + 1, 1 FROM runs;
-- Profiles of other types: goroutines, and one whose second value is what a viewer shows first. Both have the stack of parse.
INSERT INTO profiles(id, run_id, kind, sample_types) SELECT 3000 + id, id, 'goroutine', '[["goroutine","count"]]' FROM runs;
INSERT INTO profiles(id, run_id, kind, sample_types, default_type)
SELECT 4000 + id, id, 'regions', '[["regions","count"],["area","bytes"],["age","nanoseconds"]]', 'area' FROM runs;
INSERT INTO samples(profile_id, trace_id, v0) SELECT 3000 + id, iif(label = 'new', 12, 2), iif(label = 'new', 400, 100) + id % 2 FROM runs
UNION ALL SELECT 3000 + id, 4, 50 FROM runs;
INSERT INTO samples(profile_id, trace_id, v0, v1, v2) SELECT 4000 + id, iif(label = 'new', 12, 2), id, iif(label = 'new', 4096, 8192), 1 FROM runs;
