# Stacks that differ from the one before anywhere, at the same depth and with the same addresses below: each chain of calls has as many blocks as the
# program counted for it. So no walk takes over frames of another one that are not its own, nor of one that was cut.
. "$(dirname "$0")/lib.sh"

cat >compare.py <<'PY'
import collections, json, sqlite3, sys

depth, spare = int(sys.argv[1]), 8  # frames of main, of threads and of the allocation
want = collections.Counter()
with open("out.txt", encoding="ascii") as lines:
    for line in lines:
        _, path, count = line.split()
        want[path[::-1][:depth - spare]] += int(count)
db = sqlite3.connect("t.db")
name = dict(db.execute("SELECT location_id, functions.name FROM location_lines JOIN functions ON functions.id = function_id ORDER BY position"))
got, cut = collections.Counter(), 0
for stack, count in db.execute("""SELECT stack, sum(alloc_count) FROM sites JOIN profiles ON profiles.id = profile_id
        JOIN traces ON traces.id = trace_id WHERE run_id = (SELECT max(id) FROM runs) GROUP BY trace_id"""):
    names = [name.get(location, "") for location in json.loads(stack)]
    path = ""
    while len(path) < len(names) and names[len(path)] in ("a", "b", "c", "d"):
        path += names[len(path)]
    cut += path != "" and len(names) == depth
    if path: got[path[:depth - spare]] += count
print(len(want), "chains,", sum(want.values()), "blocks,", cut, "cut stacks")
wrong = [(path, want[path], got[path]) for path in want | got if want[path] != got[path]]
if wrong: sys.exit(f"{len(wrong)} chains are wrong, such as {wrong[:3]}")
PY
compare() { # compare DEPTH OPTIONS-OF-THE-PROGRAM...
    local depth=$1
    shift
    expect_status 0 profile -q --no-files --depth "$depth" -- "$FIXTURES/twin_stacks" "$@" >out.txt
    python3 compare.py "$depth" || fail "twin_stacks $* at depth $depth"
}
compare 64 0 40
compare 64 3 60
compare 64 0 150 # most are cut
compare 200 0 100
compare 200 2 150 # more frames than are remembered of a walk
check_db t.db
