#!/bin/bash
# Every saved query that clear brings, on figures that were added up by hand (tests/saved_data.sql); the same through
# Python's sqlite3, so that nothing in them or in the file needs clear; parameters, --list, --save, --forget. The rows are asked for with
# $PLAIN_CLEAR: the SQL is clear's own, and the code that runs it is the same for each of them.
# build: plain
. "$(dirname "$0")/lib.sh"
export LC_ALL=C
cat "$ROOT/schema/tables.sql" "$ROOT/tests/saved_data.sql" | sqlite3 t.db || fail "making t.db"
"$CLEAR" runs --db t.db >/dev/null || fail "opening t.db"
export CLEAR_DB=t.db
: >asked

answer() { # answer NAME [ARGUMENTS...]: the rows, as csv without header, are those on standard input
    cat >want
    echo "$1" >>asked
    "$PLAIN_CLEAR" query --format csv --no-header "@$1" "${@:2}" | tr -d '\r' >got || fail "@$*"
    expect_same_file got want "@$*"
}

# Bytes of run 3: trace 2 (table_add under parse) 12000, trace 5 (table_add under main) 5000, trace 1 (parse) 1000 + 100 in two
# processes; live: 12000 and 5000 - 4000.
answer hot-sites <<'E'
2,table_add,/src/table.c,30,30,12000,12000
5,table_add,/src/table.c,30,5,5000,1000
1,parse,/src/parse.c,20,110,1100,0
E
answer hot-sites run=1 top=1 <<'E'
2,table_add,/src/table.c,30,10,4000,4000
E
# 12000 and 1000 of 13000
answer live-sites <<'E'
2,table_add,/src/table.c,30,30,12000,92.3
5,table_add,/src/table.c,30,1,1000,7.7
E
answer hot-functions <<'E'
table_add,/src/table.c,35,17000,13000
parse,/src/parse.c,110,1100,0
E
# main stands in every stack; parse in traces 1 and 2; table_add in 2 and 5; xmalloc in 2
answer cumulative <<'E'
main,145,18100,13000
table_add,35,17000,13000
parse,140,13100,12000
xmalloc,30,12000,12000
E
answer callers function='table_*' <<'E'
parse,30,12000
main,5,5000
E
answer callers function=main <<'E'
<root>,145,18100
E
# cache_put is in the library
answer modules run=1 <<'E'
app,2,110,5000,4000
libx.so,1,50,500,0
E
# means: 1100 / 110 = 10, 12000 / 30 = 400, 5000 / 5 = 1000
answer size-classes <<'E'
16,1,110,1100
512,1,30,12000
1024,1,5,5000
E
answer churn run=v1 <<'E'
1,parse,/src/parse.c,20,100,1000,10.0
3,cache_put,/src/cache.c,40,50,500,10.0
E
# live of trace 2: 12000 now, 8000 - 4000 in run 2
answer growth <<'E'
5,table_add,/src/table.c,30,0,5000,5000,1000
2,table_add,/src/table.c,30,8000,12000,4000,8000
1,parse,/src/parse.c,20,1000,1100,100,0
E
answer vanished base=1 run=2 <<'E'
3,cache_put,/src/cache.c,40,50,500,0
E
expect_equal "$("$CLEAR" query --json @vanished)" "[]" "@vanished of runs 2 and 3"
answer new-since since=commit=aaa <<'E'
5,table_add,/src/table.c,30,5,5000,1000
E
# trace 2 leaks since run 1, two days of 86,400 s before run 3
answer leak-ages <<'E'
2,table_add,/src/table.c,30,30,12000,1,172800000000000,3
5,table_add,/src/table.c,30,1,1000,3,0,1
E
answer leak-ages run=2 <<'E'
2,table_add,/src/table.c,30,10,4000,1,86400000000000,2
E
answer site-history function=table_add <<'E'
3,v3,2,table_add,30,30,12000,12000
3,v3,5,table_add,30,5,5000,1000
2,v2,2,table_add,30,20,8000,4000
1,v1,2,table_add,30,10,4000,4000
E
# 4000, 8000, 12000: mean 8000, deviations -4000, 0, 4000: sqrt(32e6 / 2) = 4000. 1000, 1000, 1100: mean 1033.3,
# sqrt((33.3^2 + 33.3^2 + 66.7^2) / 2) = 57.7
answer noise <<'E'
2,table_add,/src/table.c,30,8000,4000,50.0,3
5,table_add,/src/table.c,30,5000,,,1
1,parse,/src/parse.c,20,1033,58,5.6,3
3,cache_put,/src/cache.c,40,500,,,1
E
# runs 3 and 2: trace 1: 1100 and 1000: mean 1050, sqrt(50^2 + 50^2) = 70.7
answer noise runs=2 top=3 <<'E'
2,table_add,/src/table.c,30,10000,2828,28.3,2
5,table_add,/src/table.c,30,5000,,,1
1,parse,/src/parse.c,20,1050,71,6.7,2
E
answer run-matrix <<'E'
table_add,17000,8000,4000,0,0
parse,1100,1000,1000,0,0
cache_put,0,0,500,0,0
E
# locks of run 3: 1000 + (100 + 900) + 50 operations, 600 + (10 + 90) contended, waits 600 + (1 + 9) ms
answer compare-runs <<'E'
duration_ns,10000000000,20000000000,10000000000,100.0
alloc_count,120,145,25,20.8
alloc_bytes,9000,18100,9100,101.1
inuse_count,10,31,21,210.0
inuse_bytes,4000,13000,9000,225.0
lock_acquires,500,2050,1550,310.0
lock_contended,100,700,600,600.0
lock_wait_ns,100000000,610000000,510000000,510.0
cpu_ns,400000000,600000000,200000000,50.0
E
answer lossy-runs <<'E'
3,v3,heap,7,2,1,""
2,v2,cpu,0,0,10,""
E
# main: runs 1 and 2: (5500 + 9000) / 2 bytes, (0 + 100) / 2 ms of waits, (0 + 400) / 2 ms of processor
answer tag-cost key=branch <<'E'
dev,1,20000000000,18100,13000,610000000,600000000
main,2,10000000000,7250,4000,50000000,200000000
E
answer tag-cost <<'E'
ccc,1,20000000000,18100,13000,610000000,600000000
bbb,1,10000000000,9000,4000,100000000,400000000
aaa,1,10000000000,5500,4000,0,0
E
answer hot-locks <<'E'
app:g_table,mutex,1000,600,60.0,600000000,5000000
cache_put+8,rwlock,1000,100,10.0,10000000,300000
cache_put+72,mutex,50,0,0.0,0,0
E
# The wakes, which took no time, are no row. Trace 2 is table_add below xmalloc.
answer long-waits <<'E'
2,app:g_queue,cond,table_add,/src/table.c,30,11,1,1,2000000000,900000000
E
# 100 + 300 writes of 2000 bytes; 40960 / 40
answer io-calls <<'E'
2,write,table_add,/src/table.c,30,400,2000,5.0,400,200000
1,read,parse,/src/parse.c,20,40,40960,1024.0,10,90000
2,fsync,table_add,/src/table.c,30,2,0,0.0,0,8000000
E
# 50000 - 20000; trace 5 unmapped all
answer live-mappings <<'E'
1,shared,parse,/src/parse.c,20,1,40960,40960
2,anonymous,table_add,/src/table.c,30,2,30000,50000
E
# of 12 the sixth is above 1024, of 9 the fifth is 0; 12 - 9 were freed elsewhere, and both of trace 5
answer lifetimes <<'E'
2,table_add,/src/table.c,30,12,1024,0,3
5,table_add,/src/table.c,30,2,2048,,2
E
# mean wait 600 ms / 600, mean hold 100 ms / 1000
answer lock-convoys <<'E'
app:g_table,1000,600,60.0,1000000,100000,10.0
E
expect_equal "$("$CLEAR" query --json @lock-convoys min_ratio=10.5)" "[]" "@lock-convoys above its ratio"
# cache_put+8: 10 of 100 wait 100 us each and are held 500 us: 0.2
answer lock-convoys min_percent=10 min_ratio=0.2 <<'E'
app:g_table,1000,600,60.0,1000000,100000,10.0
cache_put+8,100,10,10.0,100000,500000,0.2
E
answer locks-by-allocation <<'E'
3,cache_put,/src/cache.c,40,2,1050,100,10000000,50005000
E
answer long-holds <<'E'
cache_put+8,rwlock,4000000,500000,50000000,100
app:g_table,mutex,900000,100000,100000000,1000
cache_put+72,mutex,500,100,5000,50
E
answer read-mostly-locks <<'E'
cache_put+8,900,100,90.0,10000000
E
answer lock-history object='*g_table' <<'E'
3,v3,app:g_table,1000,600,600000000,100000000
2,v2,app:g_table,500,100,100000000,50000000
E
answer channel-saturation <<'E'
channel#1,1700172805000000000,10,5,50.0,100,90,10.0,0.0
channel#1,1700172810000000000,10,10,100.0,200,190,30.0,10.0
E
# Nanoseconds from the start of the run. Two processes in one window of the heap; two windows of the channels.
answer run-windows <<'E'
channels,1,100,0,5000000000,5000000000,0,0
channels,2,100,5000000000,10000000000,5000000000,0,0
cpu,1,100,0,20000000000,20000000000,0,0
fibers,1,100,0,20000000000,20000000000,0,0
heap,1,100,0,20000000000,20000000000,7,18000
heap,1,101,1000000000,20000000000,19000000000,0,100
io,1,100,0,10000000000,10000000000,0,0
io,2,100,10000000000,20000000000,10000000000,0,0
lifetimes,1,100,0,20000000000,20000000000,0,0
lock,1,100,0,20000000000,20000000000,0,0
mmap,1,100,0,20000000000,20000000000,0,0
mvcc,1,100,0,20000000000,20000000000,0,0
syscalls,1,100,0,20000000000,20000000000,0,0
wait,1,100,0,20000000000,20000000000,0,0
E
# 64 * 1000 and 256 * (100 + 50)
answer copied-cells <<'E'
parse+0,64,10,1000,0,64000
app:g_conf,256,10000,100,50,38400
E
answer retrying-cells <<'E'
app:g_conf,100,50,0.5,2
E
answer hot-cpu <<'E'
parse,/src/parse.c,30,300000000,50.0
xmalloc,/src/mem.c,20,200000000,33.3
run_job,/src/job.c,10,100000000,16.7
E
answer cumulative-cpu <<'E'
main,60,600000000
parse,50,500000000
table_add,20,200000000
xmalloc,20,200000000
run_job,10,100000000
E
answer heap-and-cpu <<'E'
parse,300000000,110,1100
table_add,200000000,35,17000
run_job,100000000,0,0
E
answer labels <<'E'
request,a,30,300000000,0
request,b,20,200000000,0
size,64,30,300000000,0
E
answer biggest-stacks top=2 <<'E'
2,30,12000,main;parse;table_add;xmalloc
5,5,5000,main;table_add
E
answer deepest-stacks <<'E'
2,4,12000,main;parse;table_add;xmalloc
1,2,1100,main;parse
5,2,5000,main;table_add
E
answer process-cost <<'E'
100,1,/bin/app,135,18000,13000,610000000
101,100,/bin/app,10,100,0,0
E
answer syscall-time <<'E'
write,10,0,8000000,800000
read,1000,5,2000000,2000
E
# 8 ms / 80; 80 of 85 and 9 of 15 on the busiest scheduler; no fiber of site 2 has ended
answer fiber-sites <<'E'
1,BG,12,local,stack,80,85,100000,500000,94.1
2,BG,30,parallel,fsm,20,15,,0,60.0
E
# Events of run 3, in ms: the worker waits for g_table 1 to 4, until main releases it at 3.9, and in vain 5 to 6; main waits for g_queue
# 6 to 8, until the worker signals at 7.5; the worker sleeps 8.5 to 9. The run takes 20 s.
sqlite3 t.db <<'E' || fail 'events'
UPDATE processes SET ended_ns = started_ns + 20000000000 WHERE id = 1;
INSERT INTO threads VALUES (1, 100, 'main'), (1, 101, 'worker');
INSERT INTO objects(id, kind, identity, name, trace_id) VALUES (8, 'name', 'name:nanosleep', 'nanosleep', 0);
INSERT INTO events(process_id, tid, start_ns, duration_ns, kind, object_id, address, trace_id, owner_tid, is_late) VALUES
    (1, 101, 1000000, 3000000, 'mutex', 1, 100, 2, 100, 0), (1, 100, 3900000, 0, 'release', 1, 100, 5, NULL, 0),
    (1, 101, 5000000, 1000000, 'mutex', 1, 100, 2, 100, 1), (1, 100, 6000000, 2000000, 'cond', 7, 400, 1, NULL, 0),
    (1, 101, 7500000, 0, 'release', 7, 400, 2, NULL, 0), (1, 101, 8500000, 500000, 'sleep', 8, 0, 1, NULL, 0);
E
answer trace-sync-by-waiter <<'E'
2,worker,mutex,app:g_table,2,4000000
1,main,cond,app:g_queue,1,2000000
E
answer trace-sync-by-owner <<'E'
5,main,mutex,app:g_table,1,3000000
2,worker,cond,app:g_queue,1,2000000
E
answer trace-sched <<'E'
1,main,cond,app:g_queue,1,500000
2,worker,mutex,app:g_table,1,100000
E
# No run has wall time: tests/wall.sh adds up that of a recording.
answer wall-threads </dev/null
answer trace-off-cpu class=wait <<'E'
2,worker,wait,mutex,app:g_table,2,4000000
1,main,wait,cond,app:g_queue,1,2000000
E
answer trace-off-cpu class=sleep <<'E'
1,worker,sleep,sleep,nanosleep,1,500000
E
# Backwards: main ran 8 ms to 20 s; it was woken in 0.5; the worker ran 6 to 7.5 and 4 to 5, waited in vain between, and was woken in
# 0.1; main ran until 3.9.
answer trace-critical-path <<'E'
1,main,ran,1,19992000000
5,main,ran,1,3900000
2,worker,ran,2,2500000
2,worker,waited,1,1000000
1,main,woke,1,500000
2,worker,woke,1,100000
E
# The pages of all tables and indexes are the file, but for its free pages.
expect_equal "$("$CLEAR" query --json @file-space | python3 -c 'import json, sys; print(sum(row["size_bytes"] for row in json.load(sys.stdin)))')" \
    "$(sql t.db "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, pragma_freelist_count, pragma_page_size")" "@file-space"
echo file-space >>asked

# None is left out, none is nameless, and --list has them all.
# A span's samples: 3 of 30 ns in trace 1 (parse) and 2 of 20 ns in trace 2 (table_add); the other labels are of no span.
sqlite3 t.db "INSERT INTO label_sets(id, labels) VALUES (95, '[[\"span_id\",\"00f067aa0ba902b7\"],[\"trace_id\",\"4bf92f3577b34da6a3ce929d0e0e4736\"]]');
    INSERT INTO cpu(profile_id, trace_id, label_set_id, samples, cpu_ns)
    SELECT id, column1, 95, column2, column3 FROM (SELECT max(id) AS id FROM profiles WHERE run_id = 3 AND kind = 'cpu'), (VALUES (1, 3, 30), (2, 2, 20))" || fail 'a span'
answer spans trace=4bf9% run=3 <<'E'
4bf92f3577b34da6a3ce929d0e0e4736,00f067aa0ba902b7,cpu,parse,/src/parse.c,20,cpu_ns,30
4bf92f3577b34da6a3ce929d0e0e4736,00f067aa0ba902b7,cpu,table_add,/src/table.c,30,cpu_ns,20
E
expect_equal "$(sort -u asked)" "$(sql t.db "SELECT name FROM queries ORDER BY name")" "saved queries with a test"
expect_equal "$(sort -u asked)" "$(cd "$ROOT/schema/queries" && ls | sed 's/\.yaml$//' | sort)" "files of saved queries"
expect_between "$(sort -u asked | wc -l)" 25 1000 "saved queries"
"$CLEAR" query --list --json >list.json || fail "--list"
expect_equal "$(python3 -c 'import json; print(*[q["name"] for q in json.load(open("list.json")) if 10 < len(q["description"]) < 120], sep="\n")')" \
    "$(sort -u asked)" "--list with a line about each"
expect_match "$("$CLEAR" query --list)" "^growth +base=latest~1 run=latest top=20 +sites that allocate more" "--list"

# The file alone, read-only, in Python: each view can be read, and each query gives what clear gives.
python3 - "$CLEAR" "$PLAIN_CLEAR" <<'PYTHON' || fail "Python's sqlite3"
import json, sqlite3, subprocess, sys
db = sqlite3.connect("file:t.db?mode=ro", uri=True)
db.row_factory = sqlite3.Row
views = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")]
assert len(views) >= 10, views
for view in views:
    db.execute(f'SELECT * FROM "{view}"').fetchall()
assert db.execute("SELECT sum(alloc_bytes) FROM heap").fetchone()[0] == 5500 + 9000 + 18100
asked = 0
for number, query in enumerate(db.execute("SELECT * FROM queries").fetchall()):
    values, given = {}, []
    for param in json.loads(query["params"]):
        value = param.get("default")
        if value is None:
            value = "*"
            given.append(f"{param['name']}=*")
        if param["type"] == "run":
            value = {"latest": 3, "latest~1": 2}[value]
        values[param["name"]] = value
    rows = [dict(row) for row in db.execute(query["sql"], values)]
    clear = subprocess.run([sys.argv[1 + number % 2], "query", "--json", "@" + query["name"], *given], capture_output=True, check=True)
    assert rows == json.loads(clear.stdout), query["name"]
    asked += bool(rows)
assert asked >= 35, asked
try:
    db.execute("DELETE FROM runs")
except sqlite3.OperationalError as error:
    assert "readonly" in str(error), error
else:
    raise AssertionError("read-only and written")
PYTHON

# What a saved query says of its export: the value that pprof shows first.
"$CLEAR" export --query growth -o growth.pb.gz || fail "export --query growth"
expect_match "$(pprof -top growth.pb.gz 2>/dev/null)" "^Type: grown_bytes" "the type of @growth"
"$CLEAR" export --query growth --type run_bytes -o growth.pb.gz || fail "export --query growth --type"
expect_match "$(pprof -top growth.pb.gz 2>/dev/null)" "^Type: run_bytes" "the command line's type"
expect_equal "$("$CLEAR" export --query growth --type nix -o x.pb.gz 2>&1)" \
    "clear: --type nix: the profile has base_bytes, run_bytes, grown_bytes, grown_inuse_bytes (see clear export --help)" "a type that is not there"
[ ! -e x.pb.gz ] || fail "half a profile is left"

refused() { # refused MESSAGE ARGUMENTS...: status 2, this line, no rows
    local message=$1 got=0
    shift
    "$CLEAR" query "$@" >out 2>err || got=$?
    expect_equal "$got" 2 "status of $*"
    expect_equal "$(tail -1 err)" "clear: $message (see clear query --help)" "$*"
    [ ! -s out ] || fail "$* wrote rows"
}
refused "no saved query 'hot-sits'; did you mean @hot-sites?" @hot-sits
refused "no saved query 'frobnicate'; \`clear query --list\` lists them" @frobnicate
refused "no saved query ''; \`clear query --list\` lists them" @
refused "top=many: must be a whole number" @hot-sites top=many
refused "top=1.5: must be a whole number" @hot-sites top=1.5
refused "min_ratio=0x2: must be a number" @lock-convoys min_ratio=0x2
refused "@callers needs function=VALUE (text)" @callers
refused "the SQL has no parameter :colour" @hot-sites colour=red
refused "'5' is not NAME=VALUE; the SQL must be one argument" @hot-sites 5
"$CLEAR" query @hot-sites run=nosuch 2>err && fail "a run that is not there"
expect_match "$(cat err)" "^clear: t.db: no run 'nosuch' among 3" "a run that is not there"

# Saved with the file, and forgotten.
"$CLEAR" query --save big --description "big ones" "SELECT :run AS run, :least AS least, :factor AS factor, :word AS word" least=5 factor=0.5 || fail "--save"
expect_equal "$(sql t.db "SELECT description, params FROM queries WHERE name = 'big'")" \
    'big ones|[{"name":"run","type":"run","default":"latest"},{"name":"least","type":"integer","default":5},{"name":"factor","type":"real","default":0.5},{"name":"word","type":"text"}]' "a saved query"
expect_equal "$("$CLEAR" query --json @big word=x)" '[{"run":3,"least":5,"factor":0.5,"word":"x"}]' "@big"
expect_equal "$("$CLEAR" query --json @big word=7 run=1 least=6)" '[{"run":1,"least":6,"factor":0.5,"word":"7"}]' "@big with values"
echo "SELECT 8 AS eight" >eight.sql
"$CLEAR" query --save eight -f eight.sql || fail "--save -f"
expect_equal "$("$CLEAR" query --no-header @eight)" 8 "@eight"
"$CLEAR" query --forget eight || fail "--forget"
refused "no saved query 'eight'; \`clear query --list\` lists them" @eight
refused "no saved query 'eight'; \`clear query --list\` lists them" --forget eight
refused "@hot-sites is one of clear's own queries: choose another name" --save hot-sites "SELECT 1"
refused "@hot-sites is one of clear's own queries: choose another name" --forget hot-sites
refused "'two words' is not a valid name: use letters, digits, - and _" --save "two words" "SELECT 1"
refused "SQL line 1, column 8: no such column: nix" --save nix "SELECT nix"
refused "only reading is allowed: DELETE from runs is refused" --save gone "DELETE FROM runs"
refused "the SQL has no parameter :x" --save x "SELECT 1" x=1
refused "--save needs SQL, not the name of a saved query" --save x @big
refused "--description must be one line" --save x --description $'a\nb' "SELECT 1"
refused "--description needs --save NAME" --description x "SELECT 1"
refused "--list, --forget, --save and SQL exclude each other" --list --forget x
refused "unexpected argument 'SELECT 1'" --list "SELECT 1"
check_db t.db

# A file of a clear that knew other queries.
sqlite3 t.db "DELETE FROM queries WHERE name = 'hot-sites'; UPDATE meta SET value = 'older' WHERE key = 'queries_hash'" || fail "an older file"
cp t.db older.db && "$CLEAR" query --db older.db --json @hot-sites run=1 top=1 >got || fail "an older file"
expect_equal "$(cat got)" '[{"trace_id":2,"function":"table_add","file":"/src/table.c","line":30,"alloc_count":10,"alloc_bytes":4000,"inuse_bytes":4000}]' "an older file"
expect_equal "$(sql older.db "SELECT count(*) FROM queries WHERE name IN ('hot-sites', 'big')")" 2 "an older file is brought up to date, and keeps what was saved"
