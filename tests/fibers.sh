# Fibers, told through clear.h: spawns, runs and exits by task site and scheduler, lifetimes between bounds; and what they allocate on
# stacks of their own has stacks that end where the fiber began.
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -o t.profile -- "$FIXTURES/fibers" >out.txt
expect_tables out.txt
read -r _ total under least most < <(grep '^fibers ' out.txt)
IFS='|' read -r -a got <<<"$(sql t.db 'SELECT sum(total_fibers), sum(short_fibers), sum(very_short_fibers), max(max_lifetime_ns), sum(total_lifetime_ns) FROM fibers')"
expect_equal "${got[0]}" "$total" 'fibers'
# The program took its times outside of the recorder's: who is under 1 ms for it is so for the recorder.
expect_between "${got[1]}" "$under" "$total" 'fibers under 1 ms'
expect_between "${got[2]}" 0 "${got[1]}" 'fibers under 10 us'
expect_between "${got[3]}" $((least - least / 1000)) $((most + most / 1000)) 'longest life'
expect_equal "$(sql t.db "SELECT 'task ' || site || ' ' || sum(spawns) || ' ' || sum(runs) || ' ' || sum(exits) FROM task_sites GROUP BY site ORDER BY site")" "$(grep '^task ' out.txt)" 'task sites'
expect_equal "$(sql t.db "SELECT 'scheduler ' || scheduler || ' ' || sum(fibers) FROM schedulers GROUP BY scheduler ORDER BY scheduler")" "$(grep '^scheduler ' out.txt)" 'schedulers'
expect_equal "$(sql t.db "SELECT sum(value) FROM task_sites, json_each(schedulers)")" "$(awk '$1 == "scheduler" {sum += $3} END {print sum}' out.txt)" 'runs by site and scheduler'

while read -r _ site frames; do
    sql t.db "SELECT group_concat(function, ';') FROM (SELECT trace_id, function FROM frames
        WHERE trace_id IN (SELECT trace_id FROM heap WHERE function = '$site') ORDER BY trace_id, depth) GROUP BY trace_id" >stacks.txt
    [ -s stacks.txt ] || fail "no stack of $site"
    while read -r got; do # what called fiber_main is the C library's, nothing, or makecontext's start
        [[ $got == "$frames" || $got == "$frames;"* && $got != *schedule* ]] || fail "stack of $site: $got, not $frames"
    done <stacks.txt
done < <(grep '^stack ' out.txt)

grep -q "^# *total_fibers: $total\|^total_fibers: $total" t.profile/fibers.txt || fail "fibers.txt: $(head t.profile/fibers.txt)"
check_db t.db

# --trace=fiber: each spawn, each run and each exit is an event; a fiber runs on one thread at a time, after its spawn and before its end.
expect_status 0 profile --quiet --db traced.db -o none.profile --trace=fiber -- "$FIXTURES/fibers" >out.txt
python3 - traced.db out.txt <<'PYTHON' || fail 'the events of fibers'
import collections, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
tasks = {f'site {fields[1]}': tuple(map(int, fields[2:])) for fields in (line.split() for line in open(sys.argv[2], encoding='ascii')) if fields[0] == 'task'}
rows = db.execute("""SELECT timeline.kind, object, value, tid, start_ns, start_ns + duration_ns, stack FROM timeline JOIN stacks USING (trace_id)
                     WHERE kind IN ('spawn', 'fiber', 'finish') ORDER BY start_ns""").fetchall()
assert db.execute('SELECT lost_events FROM processes').fetchall() == [(0,)]
kinds = collections.Counter((row[1], row[0]) for row in rows)
for site, (spawns, runs, exits) in tasks.items():
    assert (kinds[site, 'spawn'], kinds[site, 'fiber'], kinds[site, 'finish']) == (spawns, runs, exits), (site, kinds, tasks)
assert sum(kinds.values()) == sum(map(sum, tasks.values()))
assert all('fiber_spawn' in row[6].split(';') for row in rows if row[0] == 'spawn')
life, on_thread, of_fiber = {}, collections.defaultdict(list), collections.defaultdict(list)
for kind, site, fiber, tid, start, end, _ in rows:
    if kind == 'fiber':
        on_thread[tid].append((start, end))
        of_fiber[fiber].append((start, end))
    else:
        life.setdefault(fiber, {})[kind] = start
for slices in [*on_thread.values(), *of_fiber.values()]:
    assert all(before[1] <= after[0] for before, after in zip(slices, slices[1:])), 'two at once'
for fiber, slices in of_fiber.items():
    assert life[fiber]['spawn'] <= slices[0][0] and slices[-1][1] <= life[fiber]['finish'], (fiber, life[fiber], slices)
    assert len(slices) in (1, 7), slices
assert len(on_thread) == 2
# The long ones compute for 3 ms in one piece.
assert min(end - start for kind, site, _, _, start, end, _ in rows if (kind, site) == ('fiber', 'site 30')) >= 2990000
PYTHON
check_db traced.db
# Followed over the threads by its number.
"$CLEAR" trace --db traced.db --lock fiber --slowest 1 >slowest.txt || fail 'clear trace'
expect_match "$(cat slowest.txt)" 'fiber  *site [0-9]* #[0-9]+' 'a fiber in clear trace'
"$CLEAR" export --db traced.db --format chrome -o fibers.json >/dev/null 2>&1 || fail 'export to chrome'
expect_equal "$(python3 -c "import json; print(sum(event.get('cat') == 'fiber' and event['name'].startswith('fiber site ') and event['args']['fiber'] > 0 for event in json.load(open('fibers.json'))['traceEvents']))")" \
    "$(awk '$1 == "task" {runs += $4} END {print runs}' out.txt)" 'slices in chrome'
"$CLEAR" export --db traced.db --format perfetto -o fibers.perfetto-trace >/dev/null 2>&1 || fail 'export to perfetto'
"$CLEAR" ingest --db again.db fibers.perfetto-trace >/dev/null 2>&1 || fail 'the exported trace'
expect_equal "$(sql again.db "SELECT count(*) FROM events JOIN objects ON objects.id = object_id WHERE events.kind = 'fiber' AND objects.name LIKE 'site %'")" \
    "$(awk '$1 == "task" {runs += $4} END {print runs}' out.txt)" 'slices in perfetto'
expect_status 2 profile --trace=fiber --no-fibers true
