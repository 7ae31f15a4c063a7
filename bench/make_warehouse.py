#!/usr/bin/env python3
"""make_warehouse.py DB RUNS SITES [FUNCTIONS=2000] [DEPTH=10] [SEED=1]: adds to an empty warehouse RUNS heap runs of one
program, of SITES distinct stacks each. 98 of 100 stacks are the same in every run, as in the history of a real program; every
figure is drawn anew. Deterministic by seed. The tables are filled directly, so that only the way out is measured; totals of runs are kept as
clear keeps them."""

import json
import random
import sqlite3
import sys

TOTALS = """
INSERT INTO run_totals(run_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes, lock_acquires, lock_contended, lock_wait_ns, cpu_ns,
                       recorder_cpu_ns, dropped, truncated, sample_n, sample_bytes)
SELECT :run, sum(alloc_count), sum(alloc_bytes), sum(alloc_count - free_count), sum(alloc_bytes - free_bytes), 0, 0, 0, 0, 0, 0, 0, 0, 1, 1
FROM sites
WHERE profile_id = :run
"""


def stacks(random_source, parents, count, depth):
    """Walks up a random call tree: distinct stacks of location ids, leaf first. Four call sites a function."""
    seen = set()
    while len(seen) < count:
        function = random_source.randrange(len(parents))
        stack = []
        while len(stack) < depth:
            stack.append(function * 4 + random_source.randrange(4) + 1)
            if function == 0:
                break
            function = parents[function]
        seen.add(tuple(stack))
    return list(seen)


def names(db, functions):
    db.execute("INSERT INTO mappings(id, filename, build_id, memory_start, memory_limit, has_functions, has_filenames, has_line_numbers)"
               " VALUES (1, '/usr/bin/server', 'abcdef0123456789', 4194304, ?, 1, 1, 1)", (4194304 + functions * 4096,))
    for i in range(functions):
        db.execute("INSERT INTO functions VALUES (?, ?, ?, ?, ?)",
                   (i + 1, f"server::module_{i % 40}::function_{i}", f"function_{i}", f"/src/server/module_{i % 40}.cc", i % 700))
        for j in range(4):
            location = i * 4 + j + 1
            db.execute("INSERT INTO locations(id, mapping_id, address) VALUES (?, 1, ?)", (location, 4194304 + i * 4096 + j * 16))
            db.execute("INSERT INTO location_lines VALUES (?, 0, ?, ?, 0)", (location, i + 1, 10 + i % 700 + j))


def add_traces(db, first, new, functions):
    db.executemany("INSERT INTO traces VALUES (?, ?, ?, ?, ?, ?, 0)",
                   ((first + i, first + i, first + i, json.dumps(stack, separators=(",", ":")), stack[0], (stack[0] - 1) // 4 + 1)
                    for i, stack in enumerate(new)))


def add_run(db, run, traces, block_bytes, source):
    """As the view sites adds rows: a size that is not the usual one of its site is in the row."""
    db.execute("INSERT INTO runs(id, uuid, command, started_ns, duration_ns, source) VALUES (?, ?, './server', ?, 1000000000, 'profile')",
               (run, f"{run:032x}", 1700000000000000000 + run))
    db.execute("INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES (?, ?, 100, 1, '/usr/bin/server', 0)", (run, run))
    db.execute("INSERT INTO profiles(id, run_id, process_id, kind, time_ns, mappings) VALUES (?, ?, ?, 'heap', ?, '[1]')",
               (run, run, run, 1700000000000000000 + run))

    rows = []
    for trace in sorted(traces):
        count = 1 + int(source.expovariate(1 / 200))
        size = source.choice((16, 32, 48, 64, 128, 512, 4096))
        freed = source.randrange(count + 1)
        if trace not in block_bytes:
            block_bytes[trace] = size
            db.execute("INSERT INTO site_keys VALUES (?, ?, 0, ?)", (trace, trace, size))
        usual = block_bytes[trace] == size
        rows.append((run, trace, count, freed, None if usual else count * size, None if usual or not freed else freed * size))
    db.executemany("INSERT INTO site_rows VALUES (?, ?, ?, ?, ?, ?)", rows)
    db.execute(TOTALS, {"run": run})


def main():
    path, runs, sites = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    functions, depth, seed = (int(sys.argv[i]) if len(sys.argv) > i else value for i, value in ((4, 2000), (5, 10), (6, 1)))
    source = random.Random(seed)
    parents = [0] + [source.randrange(max(1, i // 2), i + 1) - 1 if i > 1 else 0 for i in range(1, functions)]
    common = sites - sites // 50
    new = stacks(source, parents, common + runs * (sites - common), depth)
    block_bytes = {}
    with sqlite3.connect(path) as db:
        names(db, functions)
        add_traces(db, 1, new, functions)
        for run in range(1, runs + 1):
            own = common + (run - 1) * (sites - common)
            add_run(db, run, list(range(1, common + 1)) + list(range(own + 1, own + sites - common + 1)), block_bytes, source)


if __name__ == "__main__":
    main()
