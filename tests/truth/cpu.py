"""CPU time: the ten functions that perf record finds busiest, and threads and processes too short for a sample."""
import re
from common import *

WORDS = "for (1..4000000) { $n{$_ % 977} .= 'x' if $_ % 3; $s += length($n{$_ % 977} // ''); } print \"$s\\n\""
PROGRAMS = {
    "malloc_loop": [fixture("malloc_loop"), "1500"],
    "fault_strlen (C)": [fixture("fault_strlen")],
    "fault_boxes (Rust)": ["sh", "-c", 'for i in 1 2 3 4; do "$0"; done', fixture("fault_boxes")],
    "fault_string_copies (C++)": ["sh", "-c", 'for i in 1 2 3; do "$0"; done', fixture("fault_string_copies")],
    "fault_clone (Rust)": [fixture("fault_clone")],
    "sqlite3": ["sqlite3", ":memory:", "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 400000) "
                "SELECT count(*), max(y) FROM (SELECT printf('%d', x * 7919 % 400009) AS y FROM c ORDER BY y)"],
    "python3": ["python3", "-c", "import json\nfor i in range(12): json.loads(json.dumps({str(k): [k, 'a b'.split()] for k in range(30000)}, indent=1))"],
    "perl": ["perl", "-e", WORDS],
    "jq": ["jq", "-R", "-s", "split(\"\\n\") | map(split(\" \") | length) | add", "input.txt"],
    "xz": ["xz", "-c", "-3", "-T1", "input.txt"],
}
INTERPRETER = "_PyEval_EvalFrameDefault" # perf knows no functions of Python: what runs them
LEAST, POINTS, ERRORS = 3, 2, 4  # shares below LEAST % are not compared; bounds: POINTS % and ERRORS standard errors of both samples


def same_name(name):
    """Names of one function in the two tools: without arguments, versions and the prefixes of glibc's aliases; memcpy and memmove are one."""
    name = re.sub(r"@.*|\(.*|\.(isra|constprop|part)\.\d+", "", name.strip())
    name = re.sub(r"^__memcpy_", "__memmove_", name)
    return {"cfree": "free"}.get(re.sub(r"^(__GI_|__libc_)+", "", name), re.sub(r"^(__GI_|__libc_)+", "", name))


def nameless(binary):
    """All functions of a stripped binary: libz.so.1 is what the program loads, libz.so.1.2.13 what that is a link to."""
    return re.sub(r"\.so\..*", ".so", binary) + " without names"


def of_perf(command):
    subprocess.run(["perf", "record", "-q", "-o", "perf.data", "-e", "cpu-clock:u", "-F", "999", "--", *command],
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    script = subprocess.run(["perf", "script", "-i", "perf.data", "-F", "ip,sym,dso"], capture_output=True, text=True).stdout
    shares, count = {}, 0
    for line in script.splitlines():
        found = re.match(r"\s*[0-9a-f]+ (.*) \((.*?)\)$", line)
        if not found: continue
        count += 1
        name = nameless(os.path.basename(found[2])) if "unknown" in found[1] else same_name(found[1])
        shares[name] = shares.get(name, 0) + 1
    return {name: 100 * samples / count for name, samples in shares.items()}, count


def of_clear(command):
    profile(command, ["--cpu=999", "--no-heap", "--no-locks"])
    report = json.loads(clear("top", "--db", "t.db", "--kind", "cpu", "--json", "--noinlines", "--nodefraction", "0", "--nodecount", "100000"))
    shares, scripts = {}, {name for name, in ask("SELECT name FROM functions WHERE filename GLOB '*.py' OR filename GLOB '<*>'")}
    for node in report["nodes"]:
        if node["function"] in scripts: node["function"] = INTERPRETER
        unnamed = re.match(r"(.+)\+0x[0-9a-f]+$", node["function"])
        name = nameless(unnamed[1]) if unnamed else same_name(node["function"])
        shares[name] = shares.get(name, 0) + 100 * node["flat"] / report["total"]
    return shares, number("SELECT sum(samples) FROM cpu_use WHERE run_id = :run")


def compare(name, command):
    theirs, their_count = of_perf(command)
    ours, our_count = of_clear(command)
    busiest = sorted(theirs, key=theirs.get, reverse=True)[:10]
    compared, largest, wrong = [one for one in busiest if theirs[one] >= LEAST], 0.0, []
    for one in compared:
        share = theirs[one] / 100
        bound = POINTS + 100 * ERRORS * (share * (1 - share) * (1 / their_count + 1 / max(our_count, 1))) ** 0.5
        difference = abs(ours.get(one, 0) - theirs[one])
        largest = max(largest, difference)
        if difference > bound: wrong.append(f"{one}: {ours.get(one, 0):.0f} %, perf {theirs[one]:.0f} %")
    first = f"{busiest[0]}: {ours.get(busiest[0], 0):.0f} %, perf {theirs[busiest[0]]:.0f} %"
    row(name, our_count, their_count, len(compared), f"{largest:.1f}", first.replace("|", "\\|"), wrong=wrong)


def short_lives():
    header("lives", "of", "CPU time by getrusage", "recorded", "per mille")
    for least, most, *arguments in ((980, 1020, "threads", "1", "300"), (980, 1020, "threads", "5", "300"), (980, 1020, "threads", "10", "300"),
                                    (980, 1020, "threads", "5", "300", "4"), (980, 1020, "threads", "500", "500"), (970, 1020, "forks", "20", "400"),
                                    (950, 1020, "execs", "20", "400")):
        used = int(profile([fixture("short_lives"), *arguments], ["--no-heap", "--no-locks"]).stdout.split()[2])
        got = number("SELECT sum(cpu_ns) FROM cpu JOIN profiles ON profiles.id = cpu.profile_id WHERE profiles.run_id = :run AND profiles.kind = 'cpu'")
        share = got * 1000 // used
        row(arguments[0], " ".join([arguments[1], "ms"] + ([arguments[3] + " at once"] if len(arguments) > 3 else [])), f"{used / 1e6:,.1f} ms", f"{got / 1e6:,.1f} ms",
            share, wrong=[] if least <= share <= most else [f"not {least} to {most}"])


with open("input.txt", "w") as file:
    for i in range(200000): file.write(f"{i} {i * 7919 % 10007} words of a text\n")
heading("CPU time",
        f"The ten functions that `perf record -e cpu-clock:u -F 999` finds busiest, with the same rate asked of clear, and with inlined functions "
        f"counted for their callers. Compared are those with {LEAST} % and more; a share may differ by {POINTS} points and {ERRORS} standard errors of "
        "both samples. The timer that clear uses rings at most as often as the kernel's own tick, and each sample is of another run of the program.")
header("program", "samples", "of perf", "functions compared", "largest difference, points", "the first")
for name, command in PROGRAMS.items():
    if len(sys.argv) < 2 or name.split()[0] in sys.argv[1:]: compare(name, command)
print("\nThreads and processes that live shorter than a few ticks of the timer. Their time is counted when they end; the kernel takes another 0.3 ms "
      "to take a process down.\n")
if len(sys.argv) < 2: short_lives()
end()
