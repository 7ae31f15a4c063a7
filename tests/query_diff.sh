#!/bin/bash
# clear doctor OLD --diff NEW: every mean, deviation, t and p against Python's own arithmetic over the tables, what is called
# a change and what is not, what each lock and cell is called, sets, files and runs in any mix, the text, and usage errors.
# build: plain
# With sanitizers $CLEAR answers once in each way; the figures of the same answers about other runs and thresholds are of $PLAIN_CLEAR.
. "$(dirname "$0")/lib.sh"
export TZ=UTC NO_COLOR=
cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_diff_data.sql" | sqlite3 t.db || fail "making t.db"
export CLEAR_DB=t.db
"$CLEAR" runs >/dev/null || fail "opening t.db"
# Few runs of a small example: the thresholds of the worked figures below, not the defaults.
set_rule() { sqlite3 t.db "INSERT INTO rules VALUES ('$1', $2, 'percent', '') ON CONFLICT(name) DO UPDATE SET value = $2" || fail "rule $1"; }
set_rule diff_false_percent 5
set_rule diff_single_percent 100
set_rule diff_single_ns 100000000

# ---- figures: Python adds up the tables and computes Welch's t; p by integrating the density of Student's t
cat >check.py <<'PY'
import json, math, sqlite3, statistics, sys
old, new, answer = json.loads(sys.argv[1]), json.loads(sys.argv[2]), json.load(open(sys.argv[3]))
db = sqlite3.connect('t.db')

def p_of(t, df):
    if math.isinf(t): return 0.0
    norm = math.gamma((df + 1) / 2) / math.gamma(df / 2) / math.sqrt(df * math.pi)
    # x = tan(u): the whole line becomes -pi/2..pi/2; Simpson's rule from t on
    f = lambda u: norm * (1 + math.tan(u) ** 2 / df) ** (-(df + 1) / 2) / math.cos(u) ** 2
    low, high, n = math.atan(abs(t)), math.pi / 2 - 1e-9, 2000
    h = (high - low) / n
    return 2 * h / 3 * (f(low) + f(high) + sum((4 if i % 2 else 2) * f(low + i * h) for i in range(1, n)))

def near(got, want, what):
    if want is None or got is None:
        assert got is want, (what, got, want)
    else:
        assert abs(got - want) <= 1e-6 * max(1, abs(want)), (what, got, want)

def check(figure, before, after, what):
    for side, values in (('old', before), ('new', after)):
        near(figure[side]['mean'], statistics.mean(values), what)
        near(figure[side]['sd'], statistics.stdev(values) if len(values) > 1 else None, what)
        assert figure[side]['n'] == len(values), what
    delta = statistics.mean(after) - statistics.mean(before)
    near(figure['delta'], delta, what)
    near(figure['percent'], 100 * delta / statistics.mean(before) if statistics.mean(before) else None, what)
    n1, n2 = len(before), len(after)
    if n1 + n2 == 2:
        assert figure['t'] is figure['p'] is figure['df'] is None, what
        return
    if n1 > 1 and n2 > 1:
        e1, e2 = statistics.variance(before) / n1, statistics.variance(after) / n2
        error = math.sqrt(e1 + e2)
        df = (e1 + e2) ** 2 / (e1 ** 2 / (n1 - 1) + e2 ** 2 / (n2 - 1)) if error else n1 + n2 - 2
    else:
        error = statistics.stdev(before if n1 > 1 else after) * math.sqrt(1 / n1 + 1 / n2)
        df = n1 + n2 - 2
    t = 0.0 if delta == 0 else math.copysign(math.inf, delta) if error == 0 else delta / error
    near(figure['t'], None if math.isinf(t) else t, what)
    near(figure['df'], df, what)
    near(figure['p'], 1.0 if t == 0 else p_of(t, df), what)

queries = {
 ('heap', 'function'): ("SELECT functions.name, run_id, sum(alloc_bytes), sum(alloc_count), sum(alloc_bytes - free_bytes), sum(alloc_count - free_count) "
     "FROM sites JOIN profiles ON profiles.id = profile_id JOIN traces ON traces.id = trace_id JOIN functions ON functions.id = function_id GROUP BY 1, 2",
     ['alloc_bytes', 'alloc_count', 'inuse_bytes', 'inuse_count']),
 ('heap', 'site'): ("SELECT printf('%016x', signature), run_id, sum(alloc_bytes), sum(alloc_count), sum(alloc_bytes - free_bytes), sum(alloc_count - free_count) "
     "FROM sites JOIN profiles ON profiles.id = profile_id JOIN traces ON traces.id = trace_id GROUP BY 1, 2",
     ['alloc_bytes', 'alloc_count', 'inuse_bytes', 'inuse_count']),
 ('lock', 'lock'): ("SELECT identity, run_id, sum(acquires + read_acquires), sum(contended + read_contended), sum(wait_ns + read_wait_ns), sum(hold_ns), "
     "sum(timeouts), sum(unfinished), sum(failed_tries) "
     "FROM locks JOIN profiles ON profiles.id = profile_id JOIN objects ON objects.id = object_id GROUP BY 1, 2",
     ['operations', 'contended', 'wait_ns', 'hold_ns']),
 ('cell', 'cell'): ("SELECT identity, run_id, sum(retries), sum(commits), sum(reads), sum(struct_size * (commits + retries)) "
     "FROM cells JOIN profiles ON profiles.id = profile_id JOIN objects ON objects.id = object_id GROUP BY 1, 2",
     ['retries', 'commits', 'reads', 'cow_bytes']),
 ('channel', 'channel'): ("SELECT identity, run_id, sum(pushes + pops), sum(push_blocked + pop_blocked), sum(push_blocked_ns + pop_blocked_ns), "
     "sum(push_blocked), sum(pop_blocked), max(max_depth) FROM channels JOIN profiles ON profiles.id = profile_id "
     "JOIN objects ON objects.id = object_id GROUP BY 1, 2", ['operations', 'blocked', 'wait_ns', 'push_blocked', 'pop_blocked', 'max_depth']),
 ('fibers', 'task site'): ("SELECT 'task:' || site, run_id, sum(spawns), sum(runs), sum(total_lifetime_ns) FROM task_sites "
     "JOIN profiles ON profiles.id = profile_id GROUP BY 1, 2", ['spawns', 'runs', 'total_lifetime_ns']),
 ('samples', 'function'): ("SELECT iif(profiles.kind = 'goroutine', 'goroutine, count ', 'regions area, bytes ') || functions.name, run_id, "
     "sum(iif(profiles.kind = 'goroutine', v0, v1)) FROM samples JOIN profiles ON profiles.id = profile_id "
     "JOIN traces ON traces.id = trace_id JOIN functions ON functions.id = function_id GROUP BY 1, 2", ['value']),
 ('cpu', 'function'): ("SELECT functions.name, run_id, sum(cpu_ns), sum(samples) FROM cpu JOIN profiles ON profiles.id = profile_id "
     "JOIN traces ON traces.id = trace_id JOIN functions ON functions.id = function_id GROUP BY 1, 2", ['cpu_ns', 'samples']),
}
rows, figures = 0, 0
for key, (sql, names) in queries.items():
    want = {}
    for row in db.execute(sql):
        if row[1] in old + new: want.setdefault(row[0], {})[row[1]] = row[2:]
    got = [row for row in answer['rows'] if (row['section'], row['by']) == key]
    ids = [row['signature'] if key == ('heap', 'site') else row['what'] + ' ' + row['subject'] if 'what' in row else
           row.get('identity', row['subject']) for row in got]
    assert sorted(ids) == sorted(want), (key, sorted(ids), sorted(want))
    for ident, row in zip(ids, got):
        rows += 1
        for i, name in enumerate(names):
            value = lambda run: want[ident].get(run, (0,) * len(names))[i]
            check(row['figures'][name], [value(run) for run in old], [value(run) for run in new], (key, ident, name))
            figures += 1
        assert row['seen'] == {'old': sum(run in want[ident] for run in old), 'new': sum(run in want[ident] for run in new)}, row
totals = [row for row in answer['rows'] if row['section'] == 'totals']
assert len(totals) == 1
for name, sql in (('alloc_bytes', "SELECT sum(alloc_bytes) FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('inuse_count', "SELECT sum(alloc_count - free_count) FROM sites JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('lock_wait_ns', "SELECT sum(wait_ns + read_wait_ns) FROM locks JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('cell_retries', "SELECT sum(retries) FROM cells JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('channel_blocked', "SELECT sum(push_blocked + pop_blocked) FROM channels JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('channel_wait_ns', "SELECT sum(push_blocked_ns + pop_blocked_ns) FROM channels JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('fibers', "SELECT sum(total_fibers) FROM fibers JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('cpu_ns', "SELECT sum(cpu_ns) FROM cpu JOIN profiles ON profiles.id = profile_id WHERE run_id = ?"),
                  ('duration_ns', "SELECT duration_ns FROM runs WHERE id = ?")):
    value = lambda run: db.execute(sql, (run,)).fetchone()[0]
    check(totals[0]['figures'][name], [value(run) for run in old], [value(run) for run in new], name)
print(rows, figures)
PY
compare() { # compare OLD-IDS NEW-IDS ARGUMENTS...: doctor --json of ARGUMENTS is right for these runs
    local old=$1 new=$2
    shift 2
    "${doctor:-$PLAIN_CLEAR}" doctor --json "$@" >answer.json || fail "doctor --json $*"
    python3 check.py "$old" "$new" answer.json >counted || fail "figures of: doctor --json $*"
}
doctor=$CLEAR compare '[1, 2, 3]' '[4, 5, 6]' 1..3 --diff 4..6
# 6 functions and sites each side knows (parse, steady, noisy, old_only, new_only, rare), 7 locks, 5 cells, 6 channels, 5 task
# sites, 2 functions on a CPU, 3 in other samples: 4 figures each, but 6, 3, 2 and 1 of the last four.
expect_equal "$(cat counted)" "40 154" "rows and figures that were compared"
compare '[1, 2, 3, 7]' '[4, 5, 6]' tag:branch=main --diff tag:branch=feature/x
compare '[3, 7]' '[4, 5, 6]' tag:branch=main,last=2 --diff all:new
compare '[1, 2, 3]' '[5]' 1..3 --diff 5
compare '[2]' '[4, 5, 6]' 2 --diff 4,5,6
doctor=$CLEAR compare '[1]' '[4]' 1 --diff 4
compare '[1, 2, 3]' '[7]' --diff 1..3 # one name: what the latest run is held against
compare '[1, 2, 3]' '[7]' --diff tag:branch=main # which is no part of its own baseline

# ---- what is called a change
"$CLEAR" doctor --json 1..3 --diff 4..6 >answer.json || fail "doctor --json"
changes() { # changes SECTION BY: "NAME: CHANGE" of the rows that count, sorted
    python3 -c 'import json, sys
for row in json.load(open("answer.json"))["rows"]:
    if (row["section"], row["by"]) == tuple(sys.argv[1:]):
        print(row["subject"] + ": " + row["change"] + ("" if row["is_change"] or row["change"] in ("same", "new", "gone") else " (not counted)"))' "$1" "$2" | sort
}
# parse doubles with a deviation of a twelfth of its mean: t = 1200 / sqrt(100^2/3 + 200^2/3) = 9.3, p = 0.003; it is one of
# three rows that vary at all, so p must be 0.05/3 at most. noisy differs by
# a third of its mean with deviations of its size, rare is in one run of three: neither is a change, nor is rare "new".
expect_equal "$(changes heap function)" "new_only: new
noisy: same
old_only: eliminated
parse: up
rare: same
steady: same" "functions"
expect_equal "$(changes heap site)" "$(changes heap function)" "sites: parse has one signature in both builds"
expect_equal "$(changes lock lock)" "server:g_added: new
server:g_better: improved
server:g_gone: contention eliminated
server:g_new: newly contended
server:g_noise: same
server:g_quiet: same
server:g_worse: regression" "locks"
expect_equal "$(changes cell cell)" "calm: retries eliminated
idle: same
less: less contention
more: more contention
storm: new retry storm" "cells"
expect_equal "$(changes cpu function)" "parse: up
steady: same" "CPU time"
expect_equal "$(changes channel channel)" "added: new
channel#1: regression
channel#2: improved
freed: blocking eliminated
idle: same
jobs: newly blocked" "channels"
expect_equal "$(changes fibers 'task site' | sed 's/ (.*)//')" "task site 1: up
task site 2: more spawns
task site 3: new
task site 4: eliminated
task site 5: same" "task sites, whose lines moved"
expect_equal "$(changes samples function)" "parse: down
parse: up
steady: same" "other samples: areas, goroutines"
# An equal side says nothing changed, and says so.
"$CLEAR" doctor 1,2 --diff 3,7 >same || fail "doctor of alike sides"
expect_equal "$(tail -1 same)" "no change outside the noise" "what can be quoted of alike sides"
for same in "$ROOT/fixtures/corpus/pprof/before_go_heap.pb.gz --diff $ROOT/fixtures/corpus/pprof/before_go_heap.pb.gz" "1 --diff 1" "1..3 --diff 3,2,1" "7 --diff latest" "--diff latest"; do
    "$CLEAR" doctor $same >same 2>&1 && fail "doctor $same is not refused"
    expect_match "$(cat same)" '^clear: .* are the same runs?: name two that differ' "doctor $same"
done

# The thresholds are rules: with one in 200 for chance, parse is chance; with a floor above its difference, small.
set_rule diff_false_percent 0.5
"$PLAIN_CLEAR" doctor --json 1..3 --diff 4..6 >answer.json
expect_match "$(changes heap function)" '^parse: same$' "diff_false_percent 0.5"
set_rule diff_false_percent 5
for floor in 100:up 101:same; do
    set_rule diff_floor_percent "${floor%:*}"
    "$PLAIN_CLEAR" doctor --json 1..3 --diff 4..6 >answer.json
    expect_match "$(changes heap function)" "^parse: ${floor#*:}\$" "diff_floor_percent ${floor%:*} of a difference of 100 %"
done
set_rule diff_floor_percent 1
# g_noise waits 3 ms in run 2 and 4.2 ms in run 5, 40 % more; nothing tells how much it varies where each side is one run.
"$PLAIN_CLEAR" doctor --json 2 --diff 5 >answer.json
expect_match "$(changes lock lock)" "^server:g_worse: same\$" "8 ms more in one run are below diff_single_ns"
# How often writers collided is chance where nothing tells how much it varies: storm has 3 retries a commit in run 5, and none in run 2.
expect_equal "$(changes cell cell | grep -c 'same$') $(changes cell cell | grep -v 'same$')" "5 " "retries of one run a side"
set_rule diff_single_ns 0
for single in 40:regression 41:same; do
    set_rule diff_single_percent "${single%:*}"
    "$PLAIN_CLEAR" doctor --json 2 --diff 5 >answer.json
    expect_match "$(changes lock lock)" "^server:g_noise: ${single#*:}\$" "diff_single_percent ${single%:*} of a difference of 40 %"
done
set_rule diff_single_percent 100
set_rule diff_single_ns 100000000
printf 'thresholds:\n  diff_false_percent: 0.5\n' >clear.yaml
"$CLEAR" doctor --json 1..3 --diff 4..6 >answer.json
expect_match "$(changes heap function)" '^parse: same$' "a threshold of the configuration"
rm clear.yaml

# ---- the text
"$CLEAR" doctor 1..3 --diff 4..6 >report || fail "doctor --diff"
# g_worse: (9,005,500 - 1,002,500) / 1,002,500 ns; more: (300 1/3 - 100 2/3) / 100 2/3; CPU: (181 1/3 - 141 2/3) / 141 2/3 samples.
# Means: 1200 + 100000 + 400 + 512 = 102,112 bytes before, 2400 + 100000 + 533 + 21 + 4096 = 107,051 after.
# Of 25 things that changed, what a line has room for: the worst first, the others counted: allocations, live memory, CPU time, 3 sites, a
# function on the CPU, 4 locks, 4 cells, 4 channels, 4 task sites, 2 functions.
expect_equal "$(tail -1 report)" "allocated bytes +5 %, lock server:g_new newly contended, cell storm new retry storm, 22 more changes" "the line to quote"
"$CLEAR" doctor --focus='^(storm|added|freed|jobs|task site [34].*)$' 1..3 --diff 4..6 >objects || fail "--focus of objects"
expect_equal "$(tail -1 objects)" "cell storm new retry storm, channel jobs newly blocked, task site 3 (BG line 23) new, 2 more changes" "the line to quote of objects"
"$CLEAR" doctor --focus='^storm$' 1..3 --diff 4..6 >objects || fail "--focus of one"
# Fibers have no stacks, so all are counted: 100 + 10 + 9 + 50 + 1 before, 100 + 20 + 7 + 50 + 1 after.
expect_equal "$(tail -1 objects)" "cell storm new retry storm, fibers +5 % (170 -> 178)" "the line to quote of one"
line_of() { grep -n -m1 -- "$1" report | cut -d: -f1; }
last=0
for section in '^old  1\.\.3: 3 runs' '^new  4\.\.6: 3 runs' '^  a difference of at least 1 %, and of at least 1.0 ms for a duration, ' '^saturation$' '^totals$' '^heap by function, allocated bytes$' \
    '^heap by site, allocated bytes$' '^lock$' '^cell$' '^channel$' '^fibers by task site$' '^cpu by function$' '^samples by function$'; do
    line=$(line_of "$section")
    [ -n "$line" ] && [ "$line" -gt "$last" ] || fail "no $section after line $last"
    last=$line
done
expect_match "$(cat report)" '^  old   dropped +5 +2/3  heap$' "what was lost: in two runs of three, five events at most"
expect_match "$(cat report)" '^  ↑ up +1\.2 KiB +100 B +2\.3 KiB +200 B +3 : 3 +\+1\.2 KiB +\+100 %$' "parse: mean, deviation, n"
expect_match "$(cat report)" '^  ↑ new +0 B +0 B +4\.0 KiB +0 B +0/3 : 3 +\+4\.0 KiB$' "new_only: counts as 0 where it is not"
expect_match "$(cat report)" '^  ↓ eliminated +512 B +0 B +0 B +0 B +3 : 0/3 ' "old_only"
expect_match "$(cat report)" '^  ↑ newly contended .* 0 % -> 50 % ' "a lock's share of waits"
expect_match "$(cat report)" '^  ↑ new retry storm .* 0\.0 -> 3\.0 ' "a cell's retries a commit"
expect_match "$(cat report)" '^  ↑ newly blocked .* 0 % -> 25 % ' "a channel's share of waits"
expect_match "$(cat report)" '^  ↑ more spawns .* 10 -> 20 ' "spawns of a task site"
expect_match "$(cat report)" '^      parse  parse\.c:120  \[goroutine, count\]$' "what samples are"
expect_match "$(cat report)" '^      parse  parse\.c:120$' "a function and its place, as it is on the new side"
expect_equal "$(grep -c '^        < main$' report)" 3 "callers of the sites that changed"
next=$(grep '^  clear export' report | sed 's/^  clear/"$CLEAR"/')
eval "$next" && grep -q '<svg' what-changed.svg || fail "the command that it offers: $next"
! grep -q rare report || fail "a row within the noise is shown"
expect_match "$("$CLEAR" doctor 1..3 --diff 4..6 --top 0)" '^      rare  r\.c:80$' "--top 0 shows what is within the noise"
! grep -q $'\033' report || fail "colour without a terminal"
! grep -q ' $' report || fail "trailing blanks"
expect_equal "$(sed '/^next$/,$d' report | python3 -c 'import sys; print("".join(l for l in sys.stdin.buffer.read().decode().splitlines(True) if len(l) > 101), end="")')" "" "lines over 100 columns"
# New and gone are both shown where one row is shown of each, and what is left is counted.
"$CLEAR" doctor --top 1 1..3 --diff 4..6 >one || fail "--top 1"
expect_equal "$(sed -n '/^heap by site/,/^lock/p' one | grep -c '^  [↑↓]')" 3 "--top 1: one changed, one new, one eliminated"
expect_match "$(sed -n '/^lock/,/^cell/p' one)" 'and 3 more \(--top 0 shows all\)' "--top 1 counts the locks that it leaves out"
# --by decides what rows are judged by: parse is 10 blocks a run before, 20 after; live bytes are 0 before, and 0, 0, 1300 after.
"$CLEAR" doctor --json --by allocs 1..3 --diff 4..6 >answer.json
expect_match "$(changes heap function)" '^parse: up$' "--by allocs"
"$CLEAR" doctor --json --by=inuse_bytes 1..3 --diff 4..6 >answer.json
expect_match "$(changes heap function)" '^parse: same$' "--by inuse_bytes: in one run of three"
expect_equal "$("$CLEAR" doctor --by inuse_allocs 1,2 --diff 4,5 | tail -1 | cut -d, -f1)" "live blocks -50 %" "--by inuse_allocs in the line to quote"
# 8 blocks before and 4 after may be chance where nothing is known of the noise.
expect_equal "$("$CLEAR" doctor --by inuse_allocs 1 --diff 4 | sed -n 's/^  live blocks  *//p' | tail -1 | tr -s ' ')" "too little 8 4 -4 -50 %" \
    "8 and 4 blocks, one run a side"

# ---- focus, ignore, cumulative
subjects() { python3 -c 'import json; print(" ".join(sorted(row["subject"] for row in json.load(open("answer.json"))["rows"] if (row["section"], row["by"]) == ("heap", "function"))))'; }
"$CLEAR" doctor --json --focus='^(parse|new_)' 1..3 --diff 4..6 >answer.json || fail "--focus"
expect_equal "$(subjects)" "new_only parse" "--focus"
expect_equal "$(python3 -c 'import json; print([row["figures"]["alloc_bytes"]["new"]["mean"] for row in json.load(open("answer.json"))["rows"] if row["section"] == "totals"][0])')" 6496 \
    "totals are of what is in focus: 2400 + 4096"
"$CLEAR" doctor --json --focus='^(parse|new_)' --ignore='n2\.c$' 1..3 --diff 4..6 >answer.json || fail "--ignore"
expect_equal "$(subjects)" "parse" "--ignore wins, and meets a file's name"
"$CLEAR" doctor --json --ignore='^main$' 1..3 --diff 4..6 >answer.json || fail "--ignore main"
expect_equal "$(subjects)" "" "--ignore of a caller"
expect_match "$(changes lock lock)" '^server:g_new: newly contended$' "locks without a stack are not ignored by a caller"
"$CLEAR" doctor --json --focus='g_(new|gone)$' 1..3 --diff 4..6 >answer.json || fail "--focus of a lock"
expect_equal "$(changes lock lock | wc -l)" 2 "--focus meets the names of locks"
"$CLEAR" doctor --json --cumulative 1..3 --diff 4..6 >answer.json || fail "--cumulative"
expect_equal "$(python3 -c 'import json
rows = json.load(open("answer.json"))["rows"]
main = [row for row in rows if row["section"] == "heap" and row["by"] == "function" and row["subject"] == "main"][0]
total = [row for row in rows if row["section"] == "totals"][0]
print(main["figures"]["alloc_bytes"] == total["figures"]["alloc_bytes"], main["change"])')" "True up" "--cumulative: main is all of it"

# ---- usage errors
refused() { # refused REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_status 2 "$CLEAR" doctor "$@" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "what is said to: doctor $*"
    expect_equal "$(wc -c <out.txt)" 0 "output of: doctor $*"
}
refused "no run 'nix' among 7" 1 --diff nix
refused "no run is in 'tag:branch=nix'" tag:branch=nix --diff 1
refused "N of last=N must be a whole number" --diff 'tag:branch=main,last=x'
refused "--by: unknown figure 'size'; figures are bytes, allocs, inuse_bytes, inuse_allocs" 1 --diff 2 --by size
refused "prod/none\.pb\.gz: no such file" 1 --diff prod/none.pb.gz
refused "unexpected argument '2'" 1 2 3 --diff 4
check_db t.db

# ---- files and runs in any mix
heap=$ROOT/fixtures/corpus/pprof/before_go_heap.pb.gz
only=$ROOT/fixtures/corpus/dumps/ledger.profile
sha256sum t.db >before.txt
for words in "$heap --diff $only" "1 --diff $heap" "$only --diff latest" "$heap,$only --diff 1..3" "1,$heap --diff 4,$only"; do
    # shellcheck disable=SC2086 # several words
    "$PLAIN_CLEAR" doctor --json $words >mixed.json || fail "doctor $words"
    python3 -m json.tool mixed.json >/dev/null || fail "JSON of: doctor $words"
    # shellcheck disable=SC2086
    "$CLEAR" doctor $words | tail -1 >quoted || fail "doctor $words"
    [ -s quoted ] || fail "nothing to quote: doctor $words"
done
sha256sum t.db >after.txt
expect_same_file after.txt before.txt "the warehouse after all that"
"$CLEAR" doctor --json "$heap" --diff 1 >mixed.json
pprof -raw "$heap" >raw.txt 2>/dev/null
bytes=$(awk '/^Locations/ { exit } inside && /^ +-?[0-9]+ +-?[0-9]+ +-?[0-9]+ +-?[0-9]+:/ { sub(":", "", $2); sum += $2 } /^Samples:/ { inside = 1 } END { printf "%.0f", sum }' raw.txt)
expect_equal "$(python3 -c 'import json
answer = json.load(open("mixed.json"))
total = [row for row in answer["rows"] if row["section"] == "totals"][0]["figures"]["alloc_bytes"]
print(int(total["old"]["mean"]), int(total["new"]["mean"]), answer["old"]["runs"], answer["new"]["runs"])')" "$bytes 101712 [None] [1]" "bytes of a file and of a run"
unset CLEAR_DB
(cd "$TMP" && mkdir -p away && cd away && "$CLEAR" doctor "$only" --diff "$heap" >/dev/null && [ -z "$(ls)" ]) || fail "two files without a warehouse"

# ---- a program whose file has another name, whose lock is held longer, and nothing else: told by hold, and by a picture of holds
cat >srv.c <<'C'
#include <pthread.h>
#include <time.h>
static pthread_mutex_t g_table = PTHREAD_MUTEX_INITIALIZER;
int main(void) {
    pthread_mutex_lock(&g_table);
    nanosleep(&(struct timespec){HOLD / 1000, HOLD % 1000 * 1000000}, NULL);
    pthread_mutex_unlock(&g_table);
}
C
"${CC:-gcc}" -g -pthread -DHOLD=1 -o srv srv.c && "${CC:-gcc}" -g -pthread -DHOLD=600 -o srv-slow srv.c || fail "compiling srv"
for i in 1 2; do
    for program in srv srv-slow; do "$PLAIN_CLEAR" profile -q --db srv.db --label $program -o s.profile "./$program" || fail "profiling $program"; done
done
"$CLEAR" doctor --db srv.db --json 1 --diff 2 >answer.json || fail "doctor of srv and srv-slow"
expect_equal "$(changes lock lock)" "srv:g_table: held longer" "one lock, in both programs"
"$CLEAR" doctor --db srv.db 1 --diff 2 >report
expect_match "$(tail -1 report)" '^duration .*, lock srv:g_table held longer .*; one run a side: no noise estimate$' "duration and hold are quoted"
next=$(grep '^  clear export' report | sed 's/^  clear/"$CLEAR"/')
expect_match "$next" "--kind lock --type hold" "the picture of what changed"
eval "$next" && grep -q '<svg' what-changed.svg || fail "the command that it offers: $next"
# Waits alone, of a lock that is held as long and taken as often: one run a side, they may be the machine's.
wait_once() { # wait_once RUN WAITED WAIT_NS HOLD_NS
    sqlite3 srv.db "UPDATE locks SET acquires = 1000, contended = $2, wait_ns = $3, hold_ns = $4 WHERE profile_id IN (SELECT id FROM profiles WHERE run_id = $1)
        AND acquires = (SELECT max(acquires) FROM locks AS other WHERE other.profile_id = locks.profile_id)" || fail "waits of run $1"
    "$PLAIN_CLEAR" doctor --db srv.db --json 1 --diff 3 >answer.json || fail "doctor with waits"
}
wait_once 1 5 10e6 20e6
wait_once 3 900 900e6 30e6
expect_equal "$(changes lock lock)" "srv:g_table: same" "900 ms of waits, one run a side"
expect_match "$(python3 -c 'import json; print(json.load(open("answer.json"))["quote"])')" '^no change' "the quote of waits that may be the machine's"
wait_once 3 900 1100e6 30e6
expect_equal "$(changes lock lock)" "srv:g_table: newly contended" "1.1 s of waits, one run a side"
delayed() { sqlite3 srv.db "DELETE FROM counters WHERE name = 'recorder.run_delay_ms'; INSERT INTO counters(profile_id, name, unit, value)
    SELECT max(id), 'recorder.run_delay_ms', 'ms', $2 FROM profiles WHERE run_id = $1" || fail "no processor in run $1"; wait_once 3 900 1100e6 30e6; }
delayed 3 1089
expect_equal "$(changes lock lock)" "srv:g_table: newly contended" "1.1 s of waits, of which less was waited for a processor"
delayed 3 1090
expect_equal "$(changes lock lock)" "srv:g_table: same" "1.1 s of waits, and as long for a processor"
delayed 1 1090
expect_equal "$(changes lock lock)" "srv:g_table: newly contended" "where that was in the run with shorter waits"
sqlite3 srv.db "DELETE FROM counters WHERE name = 'recorder.run_delay_ms'"
wait_once 3 9 1500e6 30e6
expect_equal "$(changes lock lock)" "srv:g_table: same" "1.5 s of 9 waits, one run a side"
wait_once 3 10 1500e6 30e6
expect_equal "$(changes lock lock)" "srv:g_table: newly contended" "1.5 s of 10 waits, one run a side"
wait_once 3 900 900e6 300e6
expect_equal "$(changes lock lock)" "srv:g_table: newly contended" "900 ms of waits of a lock that is held longer"
expect_match "$("$CLEAR" doctor --db srv.db 2 --diff 1 | tail -1)" 'lock srv-slow:g_table held shorter' "and the other way round"
# No line says "no change" where a table has one, and the reverse.
for pair in "1 2" "2 1" "1 3" "all:srv all:srv-slow"; do
    # shellcheck disable=SC2086
    set -- $pair
    "$PLAIN_CLEAR" doctor --db srv.db --json "$1" --diff "$2" >answer.json || fail "doctor $pair"
    python3 -c 'import json
answer = json.load(open("answer.json"))
tables = any(row.get("is_change") for row in answer["rows"]) or any(f["is_change"] for r in answer["rows"] if r["section"] == "totals" for f in r["figures"].values())
assert tables != answer["quote"].startswith("no change"), answer["quote"]' || fail "the line to quote of $pair against its tables"
done

# ---- waits for what is no lock: the program waits for its thread ITEMS times, which is each time NAP ms late, and SLOTS times for a slot
cat >queue.c <<'C'
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_ready = PTHREAD_COND_INITIALIZER;
static sem_t g_slots;
static int waiting;
static void nap(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }
static void *makes(void *unused) {
    for (int made = 0; made < ITEMS; nap(1)) {
        pthread_mutex_lock(&mutex);
        int is_waited_for = waiting;
        pthread_mutex_unlock(&mutex);
        if (!is_waited_for) continue;
        nap(NAP);
        pthread_mutex_lock(&mutex);
        waiting = 0;
        pthread_cond_signal(&g_ready);
        pthread_mutex_unlock(&mutex);
        made++;
    }
    for (int i = 0; i < SLOTS; i++) nap(NAP), sem_post(&g_slots);
    return unused;
}
int main(void) {
    pthread_t thread;
    sem_init(&g_slots, 0, 0);
    pthread_create(&thread, NULL, makes, NULL);
    for (int i = 0; i < ITEMS; i++) {
        pthread_mutex_lock(&mutex);
        for (waiting = 1; waiting;) pthread_cond_wait(&g_ready, &mutex);
        pthread_mutex_unlock(&mutex);
    }
    for (int i = 0; i < SLOTS; i++) sem_wait(&g_slots);
    pthread_join(thread, NULL);
}
C
"${CC:-gcc}" -D_GNU_SOURCE -g -pthread -DITEMS=12 -DNAP=1 -DSLOTS=0 -o queue queue.c &&
    "${CC:-gcc}" -D_GNU_SOURCE -g -pthread -DITEMS=12 -DNAP=80 -DSLOTS=12 -o queue-slow queue.c || fail "compiling queue"
for i in 1 2; do
    for program in queue queue-slow; do "$PLAIN_CLEAR" profile -q --db queue.db --label $program -o s.profile "./$program" || fail "profiling $program"; done
done
sqlite3 queue.db "UPDATE rules SET value = 200e6 WHERE name = 'diff_single_wait_ns'" || fail "rule diff_single_wait_ns"
# What the program knows of itself: how often it had to wait, and the shortest that this can have taken. A slow machine waits longer.
waits() { # waits OLD NEW: of the rows of the things, and that no other figure than these is asked for
    "$PLAIN_CLEAR" doctor --db queue.db --json "$1" --diff "$2" >answer.json || fail "doctor of $1 and $2"
    python3 -c 'import json
rows = [row for row in json.load(open("answer.json"))["rows"] if (row["section"], row["by"]) == ("wait", "object")]
for row in sorted(rows, key=lambda row: row["subject"]):
    figures = row["figures"]
    if "g_" in row["subject"]:
        print(row["subject"], row["change"], *["%d" % figures["waited"][side]["mean"] for side in ("old", "new")],
              figures["wait_ns"]["new"]["mean"] >= 80e6 * figures["waited"]["new"]["mean"])'
}
expect_equal "$(waits 1 2)" "queue-slow:g_slots newly waited for 0 12 True
queue:g_ready longer waits 12 12 True" "waits of one run a side"
expect_equal "$(waits 2 1)" "queue-slow:g_ready shorter waits 12 12 False
queue-slow:g_slots waits eliminated 12 0 True" "and the other way round"
expect_equal "$(waits 1 3)" "queue:g_ready same 12 12 False" "waits of one program"
expect_match "$(waits all:queue all:queue-slow)" '^queue-slow:g_slots newly waited for 0 12 True$' "waits of two runs a side"
sqlite3 queue.db "UPDATE rules SET value = 3600e9 WHERE name = 'diff_single_wait_ns'" || fail "rule diff_single_wait_ns"
expect_equal "$(waits 1 2)" "queue-slow:g_slots same 0 12 True
queue:g_ready same 12 12 True" "a difference below diff_single_wait_ns"
sqlite3 queue.db "UPDATE rules SET value = 200e6 WHERE name = 'diff_single_wait_ns'" || fail "rule diff_single_wait_ns"
"$CLEAR" doctor --db queue.db 1 --diff 2 >report
expect_match "$(cat report)" '^  ↑ newly waited for +0 ns +[0-9.]+ m?s +0 % -> 100 %$' "the table of waits"
expect_match "$(tail -1 report)" 'wait queue-slow:g_slots newly waited for' "the line to quote has what waits are new"
expect_equal "$(sqlite3 queue.db "SELECT sum(contended + timeouts + unfinished) FROM locks JOIN profiles ON profiles.id = profile_id WHERE run_id = 2 AND profiles.kind = 'wait'")" \
    "$("$CLEAR" doctor --db queue.db --json 1 --diff 2 | python3 -c 'import json, sys; print(int(sum(row["figures"]["waited"]["new"]["mean"] for row in json.load(sys.stdin)["rows"] if row["section"] == "wait")))')" \
    "all waits of the run are in the comparison"

# Joins of sleepers: 205.8 against 203.9 ms of two waits in each of two runs a side are none; ten waits in each side are.
few_waits() { # few_waits WAITS: in each run, for g_ready
    for run in 1 2 3 4; do
        sqlite3 queue.db "CREATE TEMP TABLE ready AS SELECT profile_id AS profile, object_id AS object, locks.trace_id AS trace
                FROM locks JOIN objects ON objects.id = object_id JOIN profiles ON profiles.id = profile_id WHERE run_id = $run AND name LIKE '%:g_ready';
            UPDATE locks SET acquires = 0, contended = 0, wait_ns = 0 WHERE (profile_id, object_id) IN (SELECT profile, object FROM ready);
            UPDATE locks SET acquires = $1, contended = $1, wait_ns = 205800000 + $run * 10000 - 1900000 * ($run % 2 = 0)
                WHERE (profile_id, object_id, trace_id) IN (SELECT * FROM ready ORDER BY profile DESC, trace DESC LIMIT 1)" || fail "few waits"
    done
    waits 1,3 2,4 | grep g_ready
}
expect_equal "$(few_waits 2)" "queue:g_ready same 2 2 True" "two waits in each of two runs"
expect_equal "$(few_waits 5)" "queue:g_ready shorter waits 5 5 False" "five waits in each of two runs"
sqlite3 queue.db "UPDATE rules SET value = 1000000 WHERE name = 'diff_single_wait_ns'" || fail "rule diff_single_wait_ns"
expect_equal "$(few_waits 2)" "queue:g_ready shorter waits 2 2 True" "two waits of several runs, whose time differs by diff_single_wait_ns"

# ---- waits and tries that end without the lock: the program says how many, in the variant that holds the lock while others ask for it
cat >late.c <<'C'
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t g_table = PTHREAD_MUTEX_INITIALIZER;
static void *asks(void *unused) {
    for (int i = 0; i < 3; i++) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 80000000;
        until.tv_sec += until.tv_nsec / 1000000000, until.tv_nsec %= 1000000000;
        int result = pthread_mutex_timedlock(&g_table, &until);
        if (result != (LATE ? ETIMEDOUT : 0)) abort();
        if (result == 0) pthread_mutex_unlock(&g_table);
    }
    for (int i = 0; i < 20; i++) {
        int result = pthread_mutex_trylock(&g_table);
        if (result != (LATE ? EBUSY : 0)) abort();
        if (result == 0) pthread_mutex_unlock(&g_table);
    }
    return unused;
}
int main(void) {
    pthread_t thread;
    if (LATE) pthread_mutex_lock(&g_table);
    pthread_create(&thread, NULL, asks, NULL);
    pthread_join(thread, NULL);
    if (LATE) pthread_mutex_unlock(&g_table);
}
C
"${CC:-gcc}" -D_GNU_SOURCE -g -pthread -DLATE=0 -o prompt late.c && "${CC:-gcc}" -D_GNU_SOURCE -g -pthread -DLATE=1 -o late late.c || fail "compiling late"
for i in 1 2 3; do
    for program in prompt late; do "$PLAIN_CLEAR" profile -q --db late.db --label $program -o s.profile "./$program" || fail "profiling $program"; done
done
endings() { # of the row of the lock: old and new means, where they are called a change
    python3 -c 'import json
for row in json.load(open("answer.json"))["rows"]:
    if row["section"] == "lock" and row["by"] == "lock":
        print(*["%s %d %d" % (name, row["figures"][name]["old"]["mean"], row["figures"][name]["new"]["mean"])
                for name in ("timeouts", "unfinished", "failed_tries") if row["figures"][name]["is_change"]], sep=", ")'
}
"$CLEAR" doctor --db late.db --json 1 --diff 2 >answer.json || fail "doctor of prompt and late"
expect_equal "$(changes lock lock) $(endings)" "prompt:g_table: new timeouts timeouts 0 3" "timeouts are new; of one run the tries are chance"
expect_match "$(grep -o '"failed_tries": {.*' answer.json)" '"is_change": false, "why": "how often a try found the lock taken is chance"' "why the tries are none"
"$PLAIN_CLEAR" doctor --db late.db --json 2 --diff 1 >answer.json || fail "doctor of late and prompt"
expect_equal "$(endings)" "timeouts 3 0" "timeouts are gone"
"$PLAIN_CLEAR" doctor --db late.db --json all:prompt --diff all:late >answer.json || fail "doctor of all runs of prompt and late"
expect_equal "$(changes lock lock) $(endings)" "prompt:g_table: new timeouts timeouts 0 3, failed_tries 0 20" "of several runs tries count too"
"$CLEAR" doctor --db late.db all:prompt --diff all:late >report
expect_match "$(cat report)" '^  *timeouts 0 -> 3, failed tries 0 -> 20$' "the table of locks"
expect_match "$(tail -1 report)" 'lock prompt:g_table new timeouts' "the line to quote"

# ---- the same bytes, in larger blocks: the peak is a block's size, 1,000,000 and 4,000,000 bytes, which is recorded to 16 KiB
cat >peak.c <<'C'
#include <stdlib.h>
static char *volatile sink;
int main(void) {
    for (int i = 0; i < 12000000 / SIZE; i++) { sink = malloc(SIZE); sink[0] = 1; free(sink); }
}
C
for size in 1000000 4000000; do
    "${CC:-gcc}" -g -fno-builtin -DSIZE=$size -o peak peak.c && "$PLAIN_CLEAR" profile -q --db peak.db -o s.profile ./peak || fail "the peak of $size"
done
"$CLEAR" doctor --db peak.db --json 1 --diff 2 >answer.json || fail "doctor of two peaks"
expect_match "$(python3 -c 'import json
peak = [row for row in json.load(open("answer.json"))["rows"] if row["section"] == "totals"][0]["figures"]["peak_bytes"]
print(abs(peak["old"]["mean"] - 1000000) <= 16384, abs(peak["new"]["mean"] - 4000000) <= 16384, peak["is_change"])')" '^True True True$' "the peaks"
expect_match "$("$CLEAR" doctor --db peak.db 1 --diff 2 | tail -1)" 'peak memory \+[0-9]+ %' "the peak is quoted"
# With one thread the peak is exact, and 50,000 bytes more are a change; where threads may be at their peaks at once, by chance or not, from 1 MiB.
"${CC:-gcc}" -g -fno-builtin -DSIZE=4050000 -o peak peak.c && "$PLAIN_CLEAR" profile -q --db peak.db -o s.profile ./peak || fail "the peak of 4050000"
for threads in 1:True 2:False 0:False; do
    sqlite3 peak.db "UPDATE processes SET threads_most = ${threads%:*}"
    expect_equal "$("$PLAIN_CLEAR" doctor --db peak.db --json 2 --diff 3 | python3 -c 'import json, sys
print([row["figures"]["peak_bytes"]["is_change"] for row in json.load(sys.stdin)["rows"] if row["section"] == "totals"][0])')" "${threads#*:}" \
        "50,000 bytes more at the peak, ${threads%:*} threads"
done

# ---- a program that was edited, moved and built again: the site that stayed is the same one, what came is new, what went is gone
mkdir -p first/src second/other
{
    printf '#include <stdlib.h>\nstatic char *volatile sink;\n'
    printf '__attribute__((noipa)) static void stays(size_t n) { sink = malloc(n); free(sink); }\n'
    printf '#ifdef NEW\n__attribute__((noipa)) static void comes(void) { sink = malloc(96); }\n#else\n'
    printf '__attribute__((noipa)) static void goes(void) { sink = malloc(33); free(sink); }\n#endif\n'
    printf 'int main(void) {\n    for (int i = 0; i < 500; i++) stays(SIZE);\n#ifdef NEW\n'
    printf '    for (int i = 0; i < 70; i++) comes();\n#else\n    for (int i = 0; i < 40; i++) goes();\n#endif\n}\n'
} >first/src/program.c
{ printf '/* moved */\n\n\n'; cat first/src/program.c; } >second/other/program.c
FLAGS=(-g -O1 -fno-builtin -fno-omit-frame-pointer)
(cd first && "${CC:-gcc}" "${FLAGS[@]}" -DSIZE=100 -o program src/program.c) && (cd second && "${CC:-gcc}" "${FLAGS[@]}" -DNEW -DSIZE=120 -o program other/program.c) ||
    fail "compiling"
"$PLAIN_CLEAR" profile -q --db built.db -o p.profile first/program && "$PLAIN_CLEAR" profile -q --db built.db -o q.profile second/program || fail "profiling"
"$CLEAR" doctor --db built.db --json 1 --diff 2 >answer.json || fail "doctor of two builds"
expect_equal "$(python3 -c 'import json
for row in json.load(open("answer.json"))["rows"]:
    figure = row["figures"].get("alloc_bytes")
    if row["by"] == "site": print(row["subject"], row["change"], int(figure["old"]["mean"]), int(figure["new"]["mean"]), row["figures"]["inuse_count"]["delta"])' | sort)" \
    "comes new 0 6720 70
goes eliminated 1320 0 0
stays up 50000 60000 0" "500 x 100 to 120 bytes, 70 x 96 bytes kept, 40 x 33 bytes gone"
# How long they took is the machine's.
expect_equal "$("$CLEAR" doctor --db built.db 1 --diff 2 | tail -1 | sed 's/;.*//; s/ duration [^,]*,//')" "allocated bytes +30 %, live memory 0 B -> 6.6 KiB, peak memory x 67, 2 more changes" "what can be quoted of them"
# The run against the directory that it wrote: nothing changed.
expect_match "$("$CLEAR" doctor --db built.db 1 --diff ./p.profile | tail -1)" '^no change' "a run against its own directory"

# ---- what one side did not record is unknown there, and no difference
"$PLAIN_CLEAR" profile -q --db built.db -o none.profile --no-heap first/program || fail "profiling without the heap"
"$CLEAR" doctor --db built.db --json 1 --diff 3 >answer.json || fail "doctor against a run without the heap"
expect_equal "$(python3 -c 'import json
answer = json.load(open("answer.json"))
print([(one["side"], one["code"], one["subject"]) for one in answer["saturation"]])
print([row["by"] for row in answer["rows"] if row["section"] == "heap"], [name for row in answer["rows"] if row["section"] == "totals" for name in row["figures"] if name.startswith(("alloc", "inuse", "peak"))])
print("alloc" in answer["quote"])')" "[('new', 'not-recorded', 'heap')]
[] []
False" "a side without a heap"
"$CLEAR" doctor --db built.db 1,2 --diff 2,3 >said.txt || fail "doctor of sets"
expect_match "$(tr -s ' ' <said.txt)" 'new not-recorded 1 1/2 heap' "one run of two without a heap"
expect_equal "$(grep -c 'heap by function' said.txt)" 1 "tables of sets that both have the heap"

# ---- functions by samples: what each run of one side met and none of the other is new or gone; one or two samples more or fewer are
# nothing; a file with another name has the same functions; waits that are fewer and longer are no improvement
python3 - "$ROOT/schema/tables.sql" <<'PY' | sqlite3 cpu.db || fail cpu.db
import sys
print(open(sys.argv[1]).read())
FUNCTIONS = [("steady", "a.c"), ("old_way", "a.c"), ("new_way", "a.c"), ("moved", "a.c"), ("moved", "b.c"), ("rare", "a.c"), ("[unsampled]", "")]
for i, (name, file) in enumerate(FUNCTIONS, 1):
    print(f"INSERT INTO functions(id, name, system_name, filename) VALUES ({i}, '{name}', '{name}', '{file}');"
          f"INSERT INTO locations(id, mapping_id, address) VALUES ({i}, 0, {i}); INSERT INTO location_lines VALUES ({i}, 0, {i}, 7, 0);"
          f"INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES ({i}, {i}, {i}, '[{i}]', {i}, {i}, 7);")
print("INSERT INTO objects(id, kind, identity, name) VALUES (1, 'lock', 'symbol:server:lock+0', 'server:lock');")
# run -> samples of each function, waits and their time; runs 1 to 3 are old, 4 to 6 new, 7 like 1 with other chances, 8 was paused, 9 interrupted
RUNS = {1: ([100, 25, 0, 40, 0, 2], 900, 800), 2: ([97, 24, 0, 41, 0, 0], 880, 640), 3: ([104, 26, 0, 38, 0, 1], 910, 960),
        4: ([101, 0, 25, 0, 40, 0], 100, 1900), 5: ([99, 0, 26, 0, 37, 0], 110, 1300), 6: ([98, 0, 24, 0, 42, 0], 105, 2300),
        7: ([100, 25, 0, 40, 0, 0], 900, 800), 8: ([0] * 6, 0, 0), 9: ([50, 12, 0, 20, 0, 1], 450, 400)}
for run, (samples, waits, ms) in RUNS.items():
    print(f"INSERT INTO runs(id, uuid, command, started_ns, duration_ns, source, exit_signal) VALUES ({run}, 'u{run}', './server', {run}, 2000000000, 'profile', "
          f"{2 if run == 9 else 'NULL'}); INSERT INTO processes(id, run_id, pid, ppid, executable, started_ns) VALUES ({run}, {run}, 1, 1, 'server', {run});"
          f"INSERT INTO profiles(id, run_id, process_id, kind) VALUES ({2 * run}, {run}, {run}, 'cpu'), ({2 * run + 1}, {run}, {run}, 'lock');")
    for i, count in enumerate(samples, 1):
        if count: print(f"INSERT INTO cpu VALUES ({2 * run}, {i}, 0, {count}, {count} * 10000000);")
    if run != 8: print(f"INSERT INTO cpu VALUES ({2 * run}, 7, 0, 0, 1000000);"
                       f"INSERT INTO locks(profile_id, object_id, address, kind, acquires, contended, wait_ns, hold_ns, timed_holds) VALUES"
                       f"({2 * run + 1}, 1, 64, 'mutex', 1000, {waits}, {ms} * 1000000, 500000000, 1000);")
    else: print(f"INSERT INTO counters(profile_id, name, unit, value) VALUES ({2 * run}, 'recorder.paused_ms', 'ms', 2000);")
PY
said() { "$CLEAR" doctor --db cpu.db "$@" >said.txt || fail "doctor $*"; tail -1 said.txt; }
cpu() { "$PLAIN_CLEAR" doctor --json --db cpu.db "$@" | python3 -c 'import json, sys
print(sorted((row["subject"], row["change"]) for row in json.load(sys.stdin)["rows"] if row["section"] == "cpu"))'; }
expect_equal "$(cpu 1..3 --diff 4..6)" "[('[unsampled]', 'same'), ('moved', 'same'), ('new_way', 'new'), ('old_way', 'eliminated'), ('rare', 'same'), ('steady', 'same')]" \
    'functions of three runs a side'
expect_match "$(said 1..3 --diff 4..6)" '^CPU in new_way \(a.c:7\) new, 1 more change$' 'what is quoted of them, and not of the lock'
expect_equal "$(cpu 1 --diff 7)" "[('[unsampled]', 'same'), ('moved', 'same'), ('old_way', 'same'), ('rare', 'same'), ('steady', 'same')]" \
    'two samples in one run of each side'
expect_match "$(sed -n '/^cpu by function/,+1p' said.txt | tail -1)" '1 new, 1 eliminated' 'the table'
# Ten samples of each expiry of the timers, as the recorder says: 25 of a function are three moments at most, and 100 are ten.
sqlite3 cpu.db "INSERT INTO counters(profile_id, name, unit, value)
    SELECT profiles.id, 'recorder.cpu_effective_samples', 'count', sum(samples) / 10.0 FROM profiles JOIN cpu ON cpu.profile_id = profiles.id GROUP BY 1"
expect_equal "$(cpu 1..3 --diff 4..6)" "[('[unsampled]', 'same'), ('moved', 'same'), ('new_way', 'same'), ('old_way', 'same'), ('rare', 'same'), ('steady', 'same')]" \
    'functions of three runs a side, of a tenth of the samples'
sqlite3 cpu.db "DELETE FROM counters WHERE name = 'recorder.cpu_effective_samples'"
expect_match "$(said 1 --diff 8)" '; not recorded: the new side was paused$' 'a paused run'
expect_equal "$(grep -c 'eliminated\|-100 %' said.txt)" 0 'what was not recorded is no difference'
expect_match "$(said 1..3 --diff 9)" '; interrupted: the new run$' 'an interrupted run'
expect_match "$(said 9 --diff 1..3)" '; interrupted: the old run$' 'an interrupted run before'
expect_match "$(tr -s ' ' <said.txt)" 'old interrupted 1 1/1 signal 2' 'and the signal'
expect_equal "$(said 1 --diff 9)" 'CPU in steady (a.c:7) -50 %, CPU time -50 % (1.7 s -> 831.0 ms); one run a side: no noise estimate; interrupted: the new run' \
    'half of the CPU time, with one run a side'
# One run a side tells twice the CPU time in both directions, but neither half as much again, nor twice of what is short.
times() { sqlite3 cpu.db "UPDATE cpu SET samples = $1, cpu_ns = $1 * 10000000 WHERE trace_id = 1 AND profile_id = 18; DELETE FROM cpu WHERE profile_id IN (16, 18) AND trace_id > 1;
    DELETE FROM counters WHERE profile_id = 16; DELETE FROM locks WHERE profile_id IN (17, 19); INSERT OR REPLACE INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (16, 1, 0, $2, $2 * 10000000);
    UPDATE runs SET exit_signal = NULL WHERE id = 9"; "$CLEAR" reseal --db cpu.db 8 9 >/dev/null 2>&1; }
times 200 100
expect_match "$(said 8 --diff 9)" 'CPU time [+]100 % [(]1.0 s -> 2.0 s[)]; one run a side: no noise estimate$' 'twice the CPU time'
expect_match "$(said 9 --diff 8)" 'CPU time -50 % [(]2.0 s -> 1.0 s[)]; one run a side: no noise estimate$' 'and half of it'
times 179 100
expect_equal "$(said 8 --diff 9)" 'no change that one run a side can tell from noise' '79 % more'
expect_match "$(tr -s ' ' <said.txt)" ' CPU time unsure 1.0 s ' 'which is not said to be the same'
times 180 100
expect_match "$(said 8 --diff 9)" 'CPU time [+]80 % ' '80 % more'
# Of a function that is enough where the run's CPU time is a change; else it is told from five times on.
of_function() { # BEFORE AFTER: samples of old_way beside 100 of another function
    times 100 100
    sqlite3 cpu.db "INSERT OR REPLACE INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns) VALUES (16, 2, 0, $1, $1 * 10000000), (18, 2, 0, $2, $2 * 10000000)"
    "$CLEAR" reseal --db cpu.db 8 9 >/dev/null 2>&1
}
of_function 15 74
expect_equal "$(said 8 --diff 9)" 'no change that one run a side can tell from noise' 'a function with 4.9 times as much'
of_function 15 75
expect_match "$(said 8 --diff 9)" '^CPU in old_way [(]a.c:7[)] [+]400 %' 'a function with 5 times as much'
of_function 120 296
expect_match "$(said 8 --diff 9)" 'CPU in old_way [(]a.c:7[)] [+]147 %.*CPU time [+]80 %' 'a function of a run with 80 % more'
# As much was mapped by another function of the two: Python maps in whichever needs the next block.
mapped() { sqlite3 cpu.db "DELETE FROM maps; INSERT INTO maps(profile_id, trace_id, use, label_set_id, map_count, map_bytes)
    VALUES (16, 1, 'anonymous', 0, 1, 1048576), (18, 2, 'anonymous', 0, 1, $1)" && "$CLEAR" reseal --db cpu.db 8 9 >/dev/null 2>&1; }
times 100 100
mapped 1048576
expect_equal "$(said 8 --diff 9)" 'no change' 'as much, mapped by another function'
mapped 1048577
expect_match "$(said 8 --diff 9)" '^mmap old_way new, mmap steady eliminated' 'a byte more'
sqlite3 cpu.db 'DELETE FROM maps'
times 18 9
expect_equal "$(said 8 --diff 9)" 'no change that one run a side can tell from noise' '90 ms more'

# ---- retries of one run a side: a storm that other code or arguments ended or began is a change, whatever few of it are left; all else is chance
unset CLEAR_DB
retries() { # NUMBER COMMITS RETRIES COMMAND: run NUMBER of retries.db
    printf '# mvcc-profile v2\n# object: 0x40\tcell\tsymbol:app:tickets+0\tapp:tickets\n0x40 8 1000 %s %s 0 0 -\n# %s\n' "$2" "$3" "$1" >"$1.txt"
    "$PLAIN_CLEAR" ingest -q --db retries.db "$1.txt" && sql retries.db "UPDATE runs SET command = '$4' WHERE id = $1" || fail "run $1"
}
verdict() { # OLD NEW: what is said of the cell and of all retries
    "${doctor:-$PLAIN_CLEAR}" doctor --db retries.db --json "$1" --diff "$2" >answer.json || fail "$1 --diff $2"
    python3 -c 'import json
rows = json.load(open("answer.json"))["rows"]
print(*[row["change"] for row in rows if row["section"] == "cell"], [row for row in rows if row["section"] == "totals"][0]["figures"]["cell_retries"]["is_change"])'
}
retries 1 900 3873 ./app
retries 2 900 1 './app --mended'
retries 3 900 0 ./app            # the same code: its threads ran one after the other
retries 4 900 700 './app --fewer' # no storm before
retries 5 900 60 './app --some'   # not calm
retries 6 99 0 './app --short'    # other work
expect_equal "$(doctor=$CLEAR verdict 1 2)" "retries eliminated True" "a storm that ended"
expect_equal "$(verdict 2 1)" "new retry storm True" "a storm that began"
for pair in '1 3' '3 1' '4 2' '2 4' '1 5' '1 6'; do
    expect_match "$(verdict $pair)" '^same False$' "retries of $pair"
done
