"""Allocations, bytes, peak and temporary blocks against valgrind's memcheck and dhat, and against heaptrack."""
import glob, re
from common import *

DATA = "".join(f"{i} line {i * 7919 % 1000} of the input\n" for i in range(20000))
# Programs of one process, whose allocations are the same in every run: hash seeds are fixed.
PROGRAMS = {
    "leak": [fixture("leak")],
    "heap_peak": [fixture("heap_peak"), "alone"],
    "fault_leak (C)": [fixture("fault_leak")],
    "fault_pointer_cycle (C++)": [fixture("fault_pointer_cycle")],
    "fault_boxes (Rust)": [fixture("fault_boxes")],
    "sqlite3": ["sqlite3", ":memory:", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 20000) "
                "SELECT count(*), max(y) FROM (SELECT printf('%d', x * 7919 % 20011) AS y FROM c ORDER BY y)"],
    "awk": ["mawk", "{ n[$1 % 97] = n[$1 % 97] $3 } END { for (i in n) s += length(n[i]); print s }", "data.txt"],
    "jq": ["jq", "-R", "-s", "split(\"\\n\") | map(length) | add", "data.txt"],
    "xz": ["xz", "-k", "-c", "-1", "-T1", "data.txt"],
    "sort": ["sort", "--parallel=1", "-k3,3n", "data.txt"],
}
ENVIRONMENT = {**os.environ, "LC_ALL": "C"}
# heaptrack loads libstdc++ into programs in C and Rust too, which takes this block from the heap.
LIBSTDCXX = 72704


def quiet(command):
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT)


def of_clear(command):
    profile(command, env=ENVIRONMENT)
    counts = ask("SELECT sum(alloc_count), sum(alloc_bytes), sum(inuse_bytes) FROM heap WHERE run_id = :run")[0]
    return {"count": counts[0], "bytes": counts[1], "live": counts[2], "peak": number("SELECT peak_bytes FROM peaks WHERE run_id = :run"),
            "temporary": number("SELECT sum(temporary_count) FROM heap_details WHERE run_id = :run")}


def of_memcheck(command):
    quiet(["valgrind", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--leak-check=no", "--trace-malloc=yes", "--log-file=memcheck.log", *command])
    text = open("memcheck.log").read()
    found = re.search(r"in use at exit: (\d+) bytes.*?total heap usage: (\d+) allocs \d+ frees (\d+) bytes", text[-2000:].replace(",", ""), re.S)
    return {"count": int(found[2]), "bytes": int(found[3]), "live": int(found[1]), "temporary": temporary_of(text)}


def temporary_of(trace):
    """Blocks of one thread that are freed before it allocates the next one, in the list of calls that --trace-malloc prints."""
    newest, count = None, 0
    for line in trace.splitlines():
        made = re.match(r"--\d+-- .*\) = 0x([0-9A-F]+)$", line)
        ended = re.match(r"--\d+-- (?:free|_ZdlPv\w*|_ZdaPv\w*)\(0x([0-9A-F]+)", line)
        if made: newest = made[1]
        elif ended and ended[1] == newest: newest, count = None, count + 1
    return count


def of_dhat(command):
    quiet(["valgrind", "--tool=dhat", "--run-libc-freeres=no", "--run-cxx-freeres=no", "--log-file=dhat.log", "--dhat-out-file=dhat.json", *command])
    text = open("dhat.log").read().replace(",", "")
    found = re.search(r"Total: +(\d+) bytes in (\d+) blocks.*?At t-gmax: +(\d+) bytes", text, re.S)
    return {"count": int(found[2]), "bytes": int(found[1]), "peak": int(found[3])}


def of_heaptrack(command):
    for old in glob.glob("heaptrack.out*"): os.remove(old)
    quiet(["heaptrack", "-o", "heaptrack.out", *command])
    text = subprocess.run(["heaptrack_print", "-f", glob.glob("heaptrack.out*")[0], "-p", "0", "-a", "0", "-T", "0"],
                          capture_output=True, text=True).stdout
    units = {"B": 1, "K": 1e3, "M": 1e6, "G": 1e9}
    peak = re.search(r"peak heap memory consumption: ([0-9.]+)([BKMG])", text)
    return {"count": int(re.search(r"calls to allocation functions: (\d+)", text)[1]), "peak": float(peak[1]) * units[peak[2]],
            "temporary": int(re.search(r"temporary memory allocations: (\d+)", text)[1])}


def differ(wrong, what, ours, theirs):
    if ours != theirs: wrong.append(f"{what}: {theirs:,}")


def compare_heaptrack(wrong, ours, theirs):
    """Its peak is printed rounded, and it adds a block of its own in programs without libstdc++."""
    if not 0 <= theirs["count"] - ours["count"] <= 1: wrong.append(f"count of heaptrack: {theirs['count']:,}")
    if not ours["peak"] * 0.995 <= theirs["peak"] <= (ours["peak"] + LIBSTDCXX) * 1.005: wrong.append(f"peak of heaptrack: {theirs['peak']:,.0f}")


open("data.txt", "w").write(DATA)
heading("Heap: counts, bytes, peak, temporary blocks",
        "Equal to the last byte: allocations and bytes (memcheck, dhat), what is live at the end (memcheck), the peak (dhat), and temporary blocks, "
        "which are freed before the next allocation (in memcheck's list of all calls). heaptrack confirms the count and the peak as far "
        f"as it can: it prints the peak rounded, and loads libstdc++ into the program, which takes a block of {LIBSTDCXX:,} bytes. Its temporary blocks are "
        "shown beside: it compares the size and the stack of two calls, not the address, and asks that the free be the very next call.")
header("program", "allocations", "bytes", "live at the end", "peak", "temporary", "by heaptrack")
for name, command in PROGRAMS.items():
    if len(sys.argv) > 1 and name.split()[0] not in sys.argv[1:]: continue
    ours, memcheck, dhat, heaptrack, wrong = of_clear(command), of_memcheck(command), of_dhat(command), of_heaptrack(command), []
    for key in ("count", "bytes", "live", "temporary"): differ(wrong, f"{key} of memcheck", ours[key], memcheck[key])
    for key in ("count", "bytes", "peak"): differ(wrong, f"{key} of dhat", ours[key], dhat[key])
    compare_heaptrack(wrong, ours, heaptrack)
    row(name, *ours.values(), heaptrack["temporary"], wrong=wrong)
end()
