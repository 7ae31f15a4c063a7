"""Programs with threads that are well: doctor gives no warning of them."""
from common import *

THREADED = ("shards 2", "shards 4", "shards 8", "pool 8", "pool 64", "routes 4", "routes 8", "counters 8", "scope 4", "scope 8", "pipeline", "timers 60", "bands 4", "crowd 64", "crowd 128", "ring 4",
            "ring 16")
TIMES = 3


def check_threaded(name, load):
    """Nothing at all is worth a warning, whoever else uses the processors."""
    said, failed = [], 0
    for _ in range(TIMES):
        status = profile([fixture("healthy_" + name.split()[0]), *name.split()[1:]], database="threads.db").returncode
        failed += status != 0
        rows = json.loads(clear("doctor", "--db", "threads.db", "--json"))
        said += [one for one in rows if one["severity"] in ("critical", "warning") and one["section"] != "saturation"]
    waited = ask("SELECT avg(run_delay_ns) / 1e6 FROM run_facts WHERE run_id > :run - ?1".replace("?1", str(TIMES)), database="threads.db")[0][0] or 0
    row(name, load, f"{waited:,.0f} ms", sum(one["severity"] == "critical" for one in said), sum(one["severity"] == "warning" for one in said),
        "; ".join(sorted({f"{one['section']}/{one['code']}" for one in said})), wrong=(["exit status"] if failed else []) + (["a warning"] if said else []))


heading("Healthy programs with threads",
        f"The programs fixtures/healthy_*, {TIMES} runs each, alone and beside `stress-ng --cpu 2`. They have no fault, so nothing may be worth a warning: on a machine "
        "without a free processor threads wait for each other because one of them waits for a processor.")
header("program and threads", "beside it", "ready, but no processor (mean)", "critical", "warnings", "which")
for load in ("nothing", "stress-ng"):
    stress = subprocess.Popen(["stress-ng", "--cpu", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if load == "stress-ng" else None
    try:
        for name in THREADED:
            if os.path.exists(fixture("healthy_" + name.split()[0])): check_threaded(name, load)
    finally:
        if stress: stress.terminate(), stress.wait()
end()
