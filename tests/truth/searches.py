"""Searches by `clear bisect` whose answer is known: repositories of 64 commits with one regression each, at another place each time
(fixtures/bisect_history.py)."""
import re, shutil
from common import *

SEARCHES, COMMITS = 20, 64
HISTORY = os.path.join(ROOT, "fixtures", "bisect_history.py")
KINDS = (("alloc_count", "30 %", "none", ["--step", "30"], 20), ("alloc_bytes", "10 %", "5 %", ["--step", "10", "--noise", "5"], 19))


def search(number, figure, options):
    """What is found in the repository of that number: (the right commit, the one found, runs taken)."""
    first_bad = 1 + (number * 37 + 11) % (COMMITS - 1)
    for name in ("repository", "t.db", "noise"):
        shutil.rmtree(name, ignore_errors=True)
        if os.path.exists(name): os.remove(name)
    # The numbers of each search are others, and the same at each `make truth`.
    with open("noise", "wb") as file: file.write((1 + number * 100000).to_bytes(8, "little"))
    right = subprocess.run([sys.executable, HISTORY, "repository", str(COMMITS), str(first_bad), *options], capture_output=True, text=True, check=True).stdout.strip()
    done = subprocess.run([CLEAR, "bisect", "--db", os.path.abspath("t.db"), "--good", f"HEAD~{COMMITS - 1}", "--figure", figure, "--build",
                           "cc -O1 -g -fno-builtin -o program program.c -lm", "--json", "--", "./program"], cwd="repository/src",
                          env={**os.environ, "NOISE": os.path.abspath("noise")}, capture_output=True, text=True)
    found = json.loads(done.stdout) if done.returncode == 0 else {}
    return right, (found.get("first_bad") or {}).get("commit"), ask("SELECT count(*) FROM runs")[0][0] if os.path.exists("t.db") else 0


heading("Searches for a commit",
        f"`clear bisect` in {SEARCHES} repositories of {COMMITS} commits with one regression each. The figure is exact, or each run draws it from a normal distribution by a "
        "generator with a known seed, so that the noise depends on no machine.")
header("figure", "regression", "noise", "searches", "found", "runs of a search, on the average")
for figure, step, noise, options, least in KINDS:
    results = [search(number, figure, options) for number in range(SEARCHES)]
    found = sum(right == got for right, got, _ in results)
    row(figure, step, noise, SEARCHES, found, round(sum(runs for _, _, runs in results) / SEARCHES), wrong=[f"less than {least}"] if found < least else [])
end()
