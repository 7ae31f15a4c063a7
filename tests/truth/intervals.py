"""Intervals of 95 %: in how many of 200 runs with seeds of their own the truth lies within what is told, mode by mode."""
import re
from common import *

RUNS = int(os.environ.get("INTERVALS_RUNS", "200"))
LEAST, MOST = 90, 100  # per cent; 93 to 97 is meant, and of 200 runs chance alone makes 92 to 98. More than 97 is too wide, which is not wrong
NAMES = ("allocations", "their bytes", "live blocks", "live bytes")


def cover(name, what, results):
    """A row: of the runs that tell an interval, how many hold the truth."""
    told = [result for result in results if result is not None]
    share = 100 * sum(told) / len(told) if told else None
    wrong = [f"not {LEAST} to {MOST} %"] if told and len(told) >= 20 and not LEAST <= share <= MOST else []
    row(name, what, len(results), len(told), f"{sum(told)} ({share:.0f} %)" if told else "none is told", wrong=wrong)


def cpu(hz):
    """The share of one of two functions by the threads' own clocks, against what is told of it."""
    shares, totals = [], []
    for seed in range(RUNS):
        out = profile([fixture("cpu_burn"), "threads", "300"], [f"--cpu={hz}", "--no-heap", "--no-locks"]).stdout
        books = {words[1]: int(words[2]) for words in map(str.split, out.splitlines()) if words and words[0] == "cpu"}
        report = json.loads(clear("top", "--db", "t.db", "--kind", "cpu", "--json", "--noinlines", "--nodefraction", "0"))
        node = next((node for node in report["nodes"] if node["function"].startswith("burn_small")), None)
        truth = books["burn_small"] / (books["burn_small"] + books["burn_large"])
        shares.append(abs(node["flat"] - truth * report["total"]) <= node["flat_error"] if node and "flat_error" in node else None)
        if seed % 20 == 19: os.remove("t.db")
    cover(f"CPU, --cpu={hz}", "share of a function", shares)


def heap_mode(option, names=NAMES):
    """All of a run: allocations, bytes, live blocks and live bytes, against a run in which each is recorded."""
    held = {name: [] for name in NAMES}
    for seed in range(1, RUNS + 1):
        command = [fixture("sampled"), str(seed), "0", "0"]
        profile(command, [option, "--cpu=off", "--no-locks"])
        got = dict(zip(NAMES, ask("SELECT alloc_count, alloc_bytes, inuse_count, inuse_bytes FROM run_summary ORDER BY run_id DESC LIMIT 1")[0]))
        told = subprocess.run([CLEAR, "top", "--db", "t.db", "--kind", "heap"], capture_output=True, text=True).stderr
        books = [list(map(int, words[2:])) for words in map(str.split, profile_books(command)) if words and words[0] == "heap"]
        allocs, size, frees, freed = (sum(column) for column in zip(*books))
        truth = dict(zip(NAMES, (allocs, size, allocs - frees, size - freed)))
        for name in NAMES:
            percent = re.search(rf"\b{name} ([0-9.e+]+) %", told)
            held[name].append(abs(got[name] - truth[name]) <= got[name] * float(percent[1]) / 100 if percent else None)
        if seed % 20 == 0: os.remove("t.db")
    for name in NAMES: cover(option, name, held[name])


def locks_mode(option):
    """Of a run whose locks were sampled: how often one of them was taken, by the rate of the windows, and how long all of them were held."""
    held = {"acquisitions of a lock": [], "time of all holds": []}
    exact = 0
    for seed in range(1, RUNS + 1):
        out = profile([fixture("sampled_locks"), str(seed), "80000"], [option, "--cpu=off"]).stdout
        books = [words for words in map(str.split, out.splitlines()) if words]
        taken = sorted(int(words[2]) for words in books if words[0] == "lock")
        run = "run_id = (SELECT max(id) FROM runs)"
        locks = ask(f"SELECT sum(acquires), max(period), sum((period - 1.0) * acquires) FROM locks JOIN profiles ON profiles.id = profile_id WHERE {run} GROUP BY object_id ORDER BY 1")
        hold, = ask(f"SELECT sum(hold_ns) FROM locks JOIN profiles ON profiles.id = profile_id WHERE {run}")[0]
        variance = ask(f"SELECT max(value) FROM counters JOIN profiles ON profiles.id = profile_id WHERE {run} AND name = 'recorder.hold_variance'")[0][0]
        exact += ask(f"SELECT max(value) FROM counters JOIN profiles ON profiles.id = profile_id WHERE {run} AND name = 'recorder.budget_acquires'")[0][0] == sum(taken)
        told = variance is not None and len(locks) == len(taken)
        recursive = locks[-1] if told else None # taken twice as often as the others
        held["acquisitions of a lock"].append(abs(recursive[0] - taken[-1]) <= 1.96 * recursive[2] ** 0.5 if told else None)
        truth = next(int(words[1]) for words in books if words[0] == "held")
        said = re.search(r"the time of all holds is within ([0-9.]+) %", " ".join(clear("doctor", "--db", "t.db").split()))
        held["time of all holds"].append(abs(hold - truth) <= float(said[1]) / 100 * hold if said else None)
        if seed % 20 == 0: os.remove("t.db")
    for name in held: cover(f"locks, {option}", name, held[name])
    row(f"locks, {option}", "acquisitions of all, exact", RUNS, RUNS, f"{exact}", wrong=[] if exact == RUNS else ["not all are exact"])


books_by_command = {}


def profile_books(command):
    key = tuple(command)
    if key not in books_by_command: books_by_command[key] = subprocess.run(command, capture_output=True, text=True).stdout.splitlines()
    return books_by_command[key]


heading("Intervals",
        f"In {RUNS} runs of each mode, how often the truth by the program's own books lies within the interval of 95 % that clear tells. CPU: the share of a function "
        "with a quarter of the time, by the threads' own clocks (four threads that use 0.3 s each). Heap: the totals of 10^6 blocks of 1 B to 1 MiB, "
        "in another order with each seed. Locks: 100,000 acquisitions of four mutexes, held for 1 to 10 us. An interval that is wider than 40 % of its figure, or that cannot be known, is not told.")
header("mode", "figure", "runs", "told", "hold the truth")
modes = sys.argv[1:] or ["99", "250", "999", "--sample=64", "--sample=64KiB", "--sample=512KiB", "--budget=20%", "locks=0.1%"]
for mode in modes:
    if mode.startswith("--"): heap_mode(mode)
    elif mode.startswith("locks="): locks_mode("--budget=" + mode.removeprefix("locks="))
    else: cpu(int(mode))
end()
