"""Programs compared with themselves, eight runs each, some of them long, with threads, polling, writers that collide, and real work: what is
called a change is a mistake. The comparisons are those of tests/compare_same.py."""
import re
from common import *

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
end()
