"""Comparisons of programs with themselves, and comparisons and gates of seeded figures. Programs compared with themselves, eight runs each, some of them long, with threads, polling, writers that collide, and real work: what is
called a change is a mistake. The comparisons are those of tests/compare_same.py."""
import math, random, re
from collections import Counter
from common import *
sys.path.insert(0, os.path.join(ROOT, "tests"))
from gate_seed import Warehouse, gate

PROGRAMS = {name: [fixture(name)] for name in """leak stacks heap_counts heap_threads mvcc lock_counts fibers own_locks channels lock_contended fault_convoy
    fault_starved fault_tiny_allocs fault_slow_consumer fault_read_mostly thread_churn""".split()}
PROGRAMS["sqlite3"] = ["sqlite3", ":memory:", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100000) "
                       "SELECT count(*), sum(length(printf('%d', x))) FROM c"]
PROGRAMS["python3"] = ["python3", "-c", "import json; print(len(json.dumps({str(i): list(range(i % 50)) for i in range(20000)})))"]

heading("Comparisons without a change",
        "`clear doctor --diff` of eight runs of one unchanged program: four times one run with one, and twice four with four. At most 1 % of all figures "
        "may be called a change, and no line to quote may claim one.")
for _ in range(8):
    for name, command in PROGRAMS.items(): profile(command, ["--label", name])
said = subprocess.run(["python3", os.path.join(ROOT, "tests", "compare_same.py"), "t.db"], capture_output=True, text=True, env={**os.environ, "SINGLES": "4"})
header("program", "comparisons", "figures", "called a change", "quotes that claim one")
claimed = []
for line in said.stdout.splitlines():
    found = re.match(r"(?:(\S+): )?(\d+) comparisons, (\d+) figures, (\d+) called changes, (\d+) quotes claim one", line)
    if not found:
        claimed.append(line.strip())
        continue
    name, counts = found[1] or "**all**", [int(found[i]) for i in range(2, 6)]
    wrong = ["quotes claim a change"] if counts[3] else []
    if not found[1] and counts[2] * 100 > counts[1]: wrong.append("more than 1 % of the figures")
    row(name, *counts, wrong=wrong)
for line in claimed[:20]: print(("\n" if line is claimed[0] else "") + "    " + line[:200])


# What changed, allocations and CPU time by so much, the figure, and with how many runs a side it must be found in three of four comparisons.
CHANGES = (("nothing", 1, 1, None, 0), ("10 % more allocations", 1.1, 1, "alloc_count", 1), ("20 % more CPU time", 1, 1.2, "cpu_ns", 9), ("twice the CPU time", 1, 2, "cpu_ns", 3))
SIDES, COMPARISONS = (1, 3, 9), 20


def add_side(warehouse, rng, count, tag, blocks, ns):
    """Runs with 20 functions that allocate exactly, and 20 that take CPU time with 3 % of log-normal noise, which is that of the run."""
    for _ in range(count):
        time = math.exp(rng.gauss(0, 0.03))
        warehouse.add_run(cpu={f"work_{i}": round(ns * 5e7 * time) for i in range(20)}, independent=250,
                          allocations={f"make_{i}": (round(blocks * 1000), round(blocks * 1000) * 48) for i in range(20)}, tags={"side": tag})


def diff_rates(sides, blocks, ns, rng):
    """What is said of the totals in COMPARISONS comparisons: how often each figure is called a change, and how many quotes claim one."""
    warehouse, said = Warehouse("d.db"), Counter()
    for i in range(COMPARISONS):
        add_side(warehouse, rng, sides, f"old{i}", 1, 1)
        add_side(warehouse, rng, sides, f"new{i}", blocks, ns)
    warehouse.db.execute("UPDATE cpu SET samples = cpu_ns / 1000000")
    warehouse.done()
    for i in range(COMPARISONS):
        answer = json.loads(clear("doctor", "--db", "d.db", "--json", f"tag:side=old{i}", "--diff", f"tag:side=new{i}"))
        totals = next(row["figures"] for row in answer["rows"] if row["section"] == "totals")
        for name, figure in totals.items(): said[name] += figure["is_change"]
        said["quote"] += not answer["quote"].startswith("no change")
    return said


print()
heading("Comparisons with a change",
        f"`clear doctor --diff` of seeded runs with 1, 3 and 9 on each side, {COMPARISONS} comparisons each: allocations are the same in all runs of a side, CPU time of 1 s has 3 % of "
        "log-normal noise. Of CPU time a single run on each side tells nothing, and three find what is much, for all figures are judged together; a gate against a history, "
        "below, needs one. No comparison without a change may claim one.")
header("change", "runs a side", "allocations called a change", "CPU time called a change", "quotes that claim one")
rng = random.Random(29)
for what, blocks, ns, figure, least in CHANGES:
    for sides in SIDES:
        said = diff_rates(sides, blocks, ns, rng)
        wrong = [f"{name} is called a change" for name in ("alloc_count", "cpu_ns") if name != figure and said[name]]
        if figure is None and said["quote"]: wrong.append("quotes claim a change")
        if figure and sides >= least and said[figure] * 4 < COMPARISONS * 3: wrong.append("fewer than three quarters found")
        row(what, sides, said["alloc_count"], said["cpu_ns"], said["quote"], wrong=wrong)


def gate_rates(noise, runs, change, rng):
    """Of a hundred gates, how many end with each verdict, by clear's own rules: CPU times of about 1 s with log-normal noise."""
    warehouse, said = Warehouse("g.db"), Counter()
    for i in range(100):
        for side, count, mean in (("old", 20, 1e9), ("new", runs, 1e9 * (1 + change))):
            for _ in range(count): warehouse.add_run(cpu={"work": round(mean * math.exp(rng.gauss(0, noise)))}, tags={side: str(i)})
    warehouse.done()
    for i in range(100):
        status = gate(f"tag:new={i}", "--base", f"tag:old={i}", "--db", "g.db", config="queries: {}\n")[0]
        said[{0: "pass", 3: "fail", 4: "undecided"}[status]] += 1
    return said


print()
heading("Gates of CPU time",
        "`clear gate` by its own rules of seeded CPU times with log-normal noise, a hundred gates each: one new run, or three, against a history of twenty. Without a "
        "change at most one of the hundred may fail. Of 20 % more, 75 are to be found; at 6 % of noise no test that is wrong in one of a hundred finds more than "
        "70 with a single run, so that row is wrong; the gates that do not fail say how many runs would decide.")
header("noise", "new runs", "without a change: failed", "undecided", "20 % more: failed", "undecided")
rng = random.Random(28)
for noise, runs, least in ((3, 1, 75), (3, 3, 75), (6, 1, 75), (6, 3, 75)):
    same, slower = (gate_rates(noise / 100, runs, change, rng) for change in (0, 0.2))
    wrong = ["more than one of a hundred failed"] if same["fail"] > 1 else []
    if slower["fail"] < least: wrong.append(f"fewer than {least} found")
    row(f"{noise} %", runs, same["fail"], same["undecided"], slower["fail"], slower["undecided"], wrong=wrong)
end()
