"""compare_same.py DB [LABEL]...: runs of one label are runs of one program without a change. Compares them with each other, one with one
and half with half, and counts what `clear doctor --diff` calls a change. Prints a line for each label and fails if more than 1 % of the
figures are changes, or if any line to quote claims one. $CLEAR is the program; $SINGLES the number of comparisons of one with one."""
import json, os, sqlite3, subprocess, sys

database, labels = sys.argv[1], sys.argv[2:]
singles = int(os.environ.get("SINGLES", "3"))
ids = {}
for run, label in sqlite3.connect(database).execute("SELECT id, label FROM runs ORDER BY id"):
    ids.setdefault(label, []).append(run)


def compare(old, new):
    names = [",".join(map(str, side)) for side in (old, new)]
    answer = json.loads(subprocess.run([os.environ["CLEAR"], "doctor", "--db", database, "--json", names[0], "--diff", names[1]],
                                       capture_output=True, text=True, check=True).stdout)
    figures = [(row["section"], row.get("subject", ""), name, figure["old"]["mean"], figure["new"]["mean"])
               for row in answer["rows"] for name, figure in row["figures"].items() if figure["is_change"]]
    return sum(len(row["figures"]) for row in answer["rows"]), figures, answer["quote"]


comparisons = figures = changes = quotes = 0
for label in labels or sorted(ids):
    runs = ids[label]
    pairs = [([old], [new]) for old, new in zip(runs[::2], runs[1::2])][:singles]
    # The halves are interleaved: how busy the machine is changes with time.
    pairs += [(runs[0::2], runs[1::2]), (runs[0::4] + runs[3::4], runs[1::4] + runs[2::4])]
    of_label = [0, 0, 0]
    for old, new in pairs:
        count, changed, quote = compare(old, new)
        of_label = [of_label[0] + count, of_label[1] + len(changed), of_label[2] + (not quote.startswith("no change"))]
        if not quote.startswith("no change"):
            print(f"  {old} and {new}: {quote}", *changed, sep="\n    ")
    print(f"{label}: {len(pairs)} comparisons, {of_label[0]} figures, {of_label[1]} called changes, {of_label[2]} quotes claim one")
    comparisons += len(pairs)
    figures, changes, quotes = figures + of_label[0], changes + of_label[1], quotes + of_label[2]
print(f"{comparisons} comparisons, {figures} figures, {changes} called changes, {quotes} quotes claim one")
sys.exit(quotes > 0 or changes * 100 > figures or comparisons < (4 * len(labels) or 20))
