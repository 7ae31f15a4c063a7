#!/usr/bin/env bash
# clear bench: what it takes, what it prints and compares, against Python's statistics over the rows; failing programs, output, two at
# once, and being stopped.
# build: plain
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=$TMP/t.db

# Allocates as many blocks as the file `blocks` says, each of a seeded size around 1,000 bytes; the seed counts up with each run.
cat >work.c <<'E2'
#include <stdio.h>
#include <stdlib.h>
static int number(const char *name) {
    int value = 0;
    FILE *file = fopen(name, "r");
    if (file && fscanf(file, "%d", &value) != 1) value = 0;
    if (file) fclose(file);
    return value;
}
int main(int argc, char **argv) {
    int seed = number("seed") + 1, blocks = number("blocks");
    FILE *file = fopen("seed", "w");
    fprintf(file, "%d\n", seed);
    fclose(file);
    srand(seed);
    for (int i = 0; i < blocks; i++) free(malloc(900 + rand() % 200));
    printf("did %d\n", blocks);
    fprintf(stderr, "line 1\nsaid %d\n", seed);
    return argc > 1 ? atoi(argv[1]) : 0;
}
E2
cc -g -fno-builtin -o work work.c || fail 'compile'

echo 100 >blocks
echo 0 >seed
"$CLEAR" bench -n 4 --warmup 2 --tag branch=main --label first -- ./work >first.txt 2>first.err || fail "bench: $(cat first.err)"
expect_equal "$(cat first.err)" '' 'standard error'
expect_equal "$(cat seed)" 6 'how often the program ran'
expect_equal "$(sql t.db "SELECT count(*) || '|' || count(DISTINCT label) || '|' || max(label) FROM runs")" '6|1|first' 'labelled runs'
expect_equal "$(sql t.db "SELECT group_concat(key, ' ') FROM (SELECT key FROM tags WHERE run_id = 6 ORDER BY key)")" 'bench branch' 'tags of a run'
expect_equal "$(sql t.db "SELECT group_concat(run_id) FROM tags WHERE key = 'bench'")" 3,4,5,6 'the set'
expect_equal "$(sql t.db "SELECT group_concat(run_id) FROM tags WHERE key = 'warmup'")" 1,2 'warm-up runs'
expect_equal "$(grep -cE '^ +[3-6]  ' first.txt)" 4 "a line a run: $(cat first.txt)"
expect_equal "$(head -1 first.txt | tr -s ' ')" ' run duration CPU time allocations allocated peak lock waits' 'headings of the catalogue'
grep -q before first.txt && fail 'compared with nothing'
find . -name '*.profile' | grep -q . && fail 'a directory of files'

# The second set, of one block more: a change of an exact figure, and of one that varies by chance.
echo 101 >blocks
"$CLEAR" bench -5 --json -- ./work >second.json 2>/dev/null || fail 'second set'
cat >check.py <<'E2'
import json, math, sqlite3, statistics, sys
db = sqlite3.connect(sys.argv[1])
got = json.load(open(sys.argv[2]))
def set_of(name):
    return [row[0] for row in db.execute("SELECT run_id FROM tags WHERE key = 'bench' AND value = ? ORDER BY run_id", (name,))]
def values(runs, figure):
    column = {"alloc_bytes": "alloc_count * block_bytes"}.get(figure, figure)
    return [db.execute(f"SELECT {figure} FROM run_totals WHERE run_id = ?", (run,)).fetchone()[0] for run in runs]
def p_of(old, new):  # Welch; the tail of Student's t by Simpson's rule
    e1, e2 = statistics.variance(old) / len(old), statistics.variance(new) / len(new)
    if e1 + e2 == 0: return 1.0 if statistics.mean(old) == statistics.mean(new) else 0.0
    t = abs(statistics.mean(new) - statistics.mean(old)) / math.sqrt(e1 + e2)
    df = (e1 + e2) ** 2 / (e1 ** 2 / (len(old) - 1) + e2 ** 2 / (len(new) - 1))
    c = math.gamma((df + 1) / 2) / (math.sqrt(df * math.pi) * math.gamma(df / 2))
    f = lambda x: c * (1 + x * x / df) ** (-(df + 1) / 2)
    n, h = 20000, t / 20000
    inner = h / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * f(i * h) for i in range(n + 1))
    return 1 - 2 * inner
new, old = set_of(got["set"]), set_of(got["before"]["set"].removeprefix("tag:bench="))
assert [run["run"] for run in got["runs"]] == new and len(new) == 5, new
assert [run["run"] for run in got["before"]["runs"]] == old and len(old) == 4, old
near = lambda a, b: abs(a - b) <= 1e-6 * max(1, abs(b))
figures = {figure["figure"]: figure for figure in got["figures"]}
for name in ("alloc_count", "alloc_bytes"):
    mine, before, figure = values(new, name), values(old, name), figures[name]
    assert [run[name] for run in got["runs"]] == mine, name
    assert near(figure["mean"], statistics.mean(mine)) and near(figure["deviation"], statistics.stdev(mine)), figure
    assert figure["lowest"] == min(mine) and figure["highest"] == max(mine) and figure["runs"] == 5, figure
    assert near(figure["before_mean"], statistics.mean(before)) and near(figure["before_deviation"], statistics.stdev(before)), figure
    assert abs(figure["p"] - p_of(before, mine)) < 1e-6, (name, figure["p"], p_of(before, mine))
assert statistics.stdev(values(new, "alloc_bytes")) > 0, "the bytes should vary"
assert figures["alloc_count"]["verdict"] == "up", figures["alloc_count"]
wanted = "noise" if p_of(values(old, "alloc_bytes"), values(new, "alloc_bytes")) > 0.002 else None
assert wanted is None or figures["alloc_bytes"]["verdict"] == wanted, figures["alloc_bytes"]
assert figures["threads_started"]["verdict"] == "same" and "lock_wait_ns" not in figures
E2
python3 check.py t.db second.json || fail "figures: $(cat second.json)"

# For people, and against a base of one's own.
"$CLEAR" bench -n 2 --base tag:branch=main -- ./work >third.txt || fail 'third set'
more=$(sql t.db 'SELECT max(alloc_count) FROM run_totals') # 101, and what stdio allocates
expect_match "$(grep '^alloc_count' third.txt)" "^alloc_count +$more +none +$more +$more +$((more - 1)) +\\+0\\.9 % +UP \\(exact\\)$" 'a line of the table'
expect_match "$(tail -1 third.txt)" '^set tag:bench=[0-9a-f]{12}: 2 runs; before tag:branch=main: 6 runs; what changed: clear doctor --db .* --diff tag:bench=' 'the last line'
(PATH=${CLEAR%/*}:$PATH && eval "$(tail -1 third.txt | sed 's/.*what changed: //')") >diff.txt || fail 'the command of the last line'
grep -q main diff.txt || fail "what it prints: $(cat diff.txt)"
"$CLEAR" bench -n 2 -- ./work >fourth.txt && grep -q 'before.*change' fourth.txt || fail 'the last set of the command'
expect_match "$(tail -1 fourth.txt)" "before tag:bench=$(sed -n 's/^set tag:bench=\([0-9a-f]*\).*/\1/p' third.txt): 2 runs" 'which is the newest'

# A program that fails ends it, with what it said; its run is stored and not in the set.
before=$(sql t.db 'SELECT max(id) FROM runs')
expect_status 1 "$CLEAR" bench -n 3 -- ./work 3 >failed.txt 2>failed.err
expect_match "$(cat failed.err)" "^  said $(cat seed)$" 'the end of its standard error'
expect_match "$(tail -1 failed.err)" "^clear: ./work: exit status 3 in run $((before + 1)): stopped \(--ignore-failure goes on\)$" 'the message'
expect_equal "$(sql t.db "SELECT max(id), (SELECT count(*) FROM tags WHERE run_id = max(id)) FROM runs")" "$((before + 1))|0" 'runs'
"$CLEAR" bench -n 3 -i -- ./work 3 >/dev/null 2>&1 || fail '--ignore-failure'
expect_equal "$(sql t.db "SELECT count(*) FROM runs JOIN tags ON run_id = id AND key = 'bench' WHERE exit_status = 3")" 3 'runs of a failing program'
expect_status 1 "$CLEAR" bench -n 2 -- bash -c 'kill -SEGV $$' >/dev/null 2>failed.err
expect_match "$(tail -1 failed.err)" 'signal 11 \(Segmentation fault\) in run' 'ended by a signal'
expect_status 1 "$CLEAR" bench -n 2 -- ./nowhere >failed.txt 2>failed.err
expect_match "$(cat failed.err)" '^clear: not recorded: ./nowhere: ' 'no such program'
expect_equal "$(cat failed.txt)" '' 'nothing was run'
for wrong in '' '--tag bench=x -- true' '--base tag:no=where -- true' '-n 0 -- true' '--record leaks -- true'; do
    # shellcheck disable=SC2086 # words are meant
    expect_status 2 "$CLEAR" bench $wrong >/dev/null 2>&1
done

# Where its output goes, and where its input comes from.
"$CLEAR" bench -n 2 -o said.txt -- ./work >/dev/null || fail '--output'
expect_equal "$(grep -c '^did 101$' said.txt) $(grep -c '^said' said.txt)" '2 2' 'what it printed, appended'
"$CLEAR" bench -n 2 --show-output -- ./work 2>&1 | grep -c '^did' | grep -qx 2 || fail '--show-output'
echo 'from a file' >input
"$CLEAR" bench -n 2 --input input -o copied.txt --record=--no-locks --record=--cpu=off -- cat >/dev/null || fail '--input'
expect_equal "$(cat copied.txt)" "$(printf 'from a file\nfrom a file')" 'the input of each run'
expect_equal "$(sql t.db "SELECT count(*) FROM profiles JOIN runs ON runs.id = run_id WHERE command = 'cat' AND kind IN ('cpu', 'lock')")" 0 '--record'

# Two at once into one file: each knows its own runs.
"$CLEAR" bench -n 4 -- sh -c 'exit 0' >one.txt 2>&1 & one=$!
"$CLEAR" bench -n 4 -- sh -c 'exit  0' >two.txt 2>&1 & two=$!
wait $one && wait $two || fail "two at once: $(cat one.txt two.txt)"
for name in one two; do
    set=$(sed -n 's/^set tag:bench=\([0-9a-f]*\).*/\1/p' $name.txt)
    expect_equal "$(sql t.db "SELECT count(*), count(DISTINCT command) FROM runs JOIN tags ON run_id = id AND key = 'bench' AND value = '$set'")" '4|1' "the set of $name"
done

# Ctrl-C reaches the whole group, a kill us alone: in both cases the program ends, its run is no member of the set, the rest is printed.
for how in group alone; do
    rm -f going
    setsid python3 - "$CLEAR" <<'E2' >stopped.txt 2>stopped.err &
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL) # a shell's background jobs ignore it
os.execv(sys.argv[1], [sys.argv[1], "bench", "-n", "50", "--", "sh", "-c", "echo >>going; [ $(wc -l <going) -lt 3 ] || exec sleep 60"])
E2
    for ((i = 0; i < 600; i++)); do [ "$(cat going 2>/dev/null | wc -l)" -ge 3 ] && break; sleep 0.1; done
    leader=$! # a job without job control is no group leader, so setsid does not fork
    if [ $how = group ]; then kill -INT -- "-$leader"; else kill -INT "$leader"; fi
    status=0
    wait $leader || status=$?
    expect_equal "$status" 130 "status after SIGINT to the $how: $(cat stopped.err)"
    expect_match "$(tail -1 stopped.txt)" '^set tag:bench=[0-9a-f]{12}: 2 runs' "the runs before ($how)"
    expect_equal "$(sql t.db "SELECT flags || '|' || (SELECT count(*) FROM tags WHERE run_id = max(id) AND key = 'bench') FROM runs")" '|0' "the run that was stopped ($how)"
    pgrep -s "$leader" >/dev/null && fail "something still runs ($how)"
done
check_db t.db
