# --db postgresql://...: every command that reads prints of a store what it prints of a file with the same runs, and exports the same bytes; runs come
# from the cache the second time, and from the server where the cache is damaged, full or cannot be written; what writes refuses a store.
# timeout: 400
# In the gate a third of the runs that were read from files and of single kinds; the sanitizers look on with every third run of a.db and of
# files; and what asks a run again in other words asks the optimized build. All of it, with the sanitizers, in make asan.
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
. "$(dirname "$0")/warehouses.sh"
postgres_start
export XDG_CACHE_HOME=$PWD/cache CLEAR_PROJECT=all
unset CLEAR_CACHE_SIZE CLEAR_DB
cached=$XDG_CACHE_HOME/clear/runs

make_warehouses
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init
for db in a b c d; do "$PLAIN_CLEAR" push -q --db $db.db --to $STORE 2>err.txt || fail "push of $db.db: $(cat err.txt)"; done
of() { sql a.db "SELECT uuid FROM runs WHERE $1 ORDER BY started_ns DESC LIMIT 1"; }
mvcc=$(of "command LIKE '%mvcc%'") maps=$(of "command LIKE '%maps'") traced=$(of 'id IN (SELECT run_id FROM processes JOIN events ON process_id = processes.id)')
[ -n "$mvcc" ] && [ -n "$maps" ] && [ -n "$traced" ] || fail "the runs of a.db: '$mvcc' '$maps' '$traced'"

# ---- as of a file ----
# What names the warehouse or a number of a run differs: the lines of commands under "next".
plain() { sed -e "s|$STORE|WAREHOUSE|g; s|file[.]db|WAREHOUSE|g" -e '/^next$/,/^$/d'; }
same() { # same SET COMMAND [ARGUMENTS]: the file has the runs of SET and no others
    rm -f file.db
    "$PLAIN_CLEAR" pull -q "$1" --from $STORE --db file.db 2>err.txt || fail "pull $1: $(cat err.txt)"
    "$PLAIN_CLEAR" "$2" --db file.db "${@:3}" >file.out 2>file.err
    local status=$?
    local runs=()
    [[ $1 != *,* ]] || runs=(--runs "$1") # numbers follow the order in which runs are fetched
    "$asking" "$2" --db $STORE "${runs[@]}" "${@:3}" >store.out 2>store.err
    expect_equal $? $status "status of ${*:2}: $(cat store.err)"
    [ -s file.out ] || fail "${*:2} prints nothing of a file: $(cat file.err)"
    plain <file.out >want.txt
    plain <store.out | diff want.txt - >diff.txt || fail "${*:2} of a store: $(head -20 diff.txt)"
    plain <file.err >want.txt
    plain <store.err | diff want.txt - >diff.txt || fail "messages of ${*:2} of a store: $(head -20 diff.txt)"
}
asked=0
for db in a b c d; do
    share='a_third 1 0'
    [ $db != d ] || share=cat
    for uuid in $(sql $db.db 'SELECT uuid FROM runs ORDER BY id' | $share); do
        asking=$PLAIN_CLEAR
        [ $db = b ] || [ $((asked % 3)) != 0 ] || asking=$CLEAR
        same "$uuid" doctor "$uuid"
        asked=$((asked + 1))
    done
done
[ $asked -ge 12 ] || fail "few runs: $asked"
expect_equal "$(find "$cached" -name '*.run' | wc -l)" $asked "runs that were kept: $(ls "$cached")"
asking=$CLEAR
[ -z "$(find "$cached" -name 'new.*')" ] || fail "left behind: $(ls "$cached")"
[ -z "$(find "$cached" \( -type f ! -perm 600 -o -type d ! -perm 700 \))" ] || fail "others may read: $(ls -l "$cached")"
same "$mvcc" doctor --json "$mvcc"
same "$mvcc" tree "$mvcc"
same "$traced" trace "$traced"
same "$mvcc" query --json 'SELECT * FROM heap JOIN frames USING (trace_id) WHERE run_id = :run ORDER BY trace_id, depth' "run=$mvcc"
same "$mvcc,$maps" doctor --diff "$mvcc" "$maps"
same nightly top nightly
same latest top latest
asking=$PLAIN_CLEAR # other reports and words for the same runs
same last=2 doctor latest~1
same "$mvcc" top "${mvcc:0:8}"
same "$mvcc" peek main "$mvcc"
same "$mvcc" report -traces "$mvcc"
same "$mvcc" query @churn "run=$mvcc"
same nightly doctor nightly
same branch=main doctor branch=main
same latest doctor latest
same latest doctor
same latest doctor last=1
same "$mvcc,$maps" gate --base "$mvcc" "$maps"
same "$mvcc" top "$mvcc" # again, from the cache
asking=$CLEAR
rm -f file.db
"$PLAIN_CLEAR" pull -q last=3 --from $STORE --db file.db || fail pull
what="SELECT 'finding', code, subject, evidence FROM doctor UNION ALL SELECT 'kind', kind, count(*), NULL FROM profiles GROUP BY kind"
"$PLAIN_CLEAR" query --db file.db "$what" >want.txt || fail query
[ "$(grep -c '^ *kind' want.txt)" -ge 3 ] && grep -q '^ *finding' want.txt || fail "few rows: $(cat want.txt)"
"$CLEAR" query --db $STORE --runs last=3 "$what" | diff want.txt - >diff.txt || fail "query of a store: $(cat diff.txt)"
# Bytes.
CLEAR=$PLAIN_CLEAR exports a.db want
for uuid in $(sql a.db 'SELECT uuid FROM runs'); do
    rm -rf got
    "$CLEAR" export --db $STORE "$uuid" -o got/ >/dev/null 2>err.txt || fail "export of $uuid: $(cat err.txt)"
    diff -r "want/$uuid" got >diff.txt || fail "export of $uuid: $(head -5 diff.txt)"
done
while read -r uuid kind; do
    "$PLAIN_CLEAR" export --db $STORE "$uuid" --kind "$kind" -o got.pb.gz 2>err.txt || { [ -s "want/$uuid.${kind//\//_}.refused" ] && continue; } || fail "export of $uuid: $(cat err.txt)"
    cmp "want/$uuid.${kind//\//_}.pb.gz" got.pb.gz || fail "$kind of $uuid"
done < <(sql a.db "SELECT DISTINCT uuid || ' ' || kind FROM runs JOIN profiles ON run_id = runs.id ORDER BY 1" | a_third 1 0)

# ---- lists of runs: answered by the store ----
rm -f file.db
"$PLAIN_CLEAR" pull -q all --from $STORE --db file.db || fail pull
sql file.db "SELECT 's/\\b' || substr(uuid, 1, 8) || '\\b/' || id || '/g' FROM runs" >numbers.sed
lists() { # lists COMMAND [ARGUMENTS]: a run has a number in a file, which JSON has too, and a uuid in a store
    "$PLAIN_CLEAR" "$1" --db file.db "${@:2}" >file.out 2>&1
    "$asking" "$1" --db $STORE "${@:2}" >store.out 2>&1
    if [[ " $* " != *' --json '* ]]; then # columns may be wider
        sed -i -f numbers.sed store.out
        sed -i -E 's/ +/ /g; s/-+/-/g' file.out store.out
    fi
    expect_equal "$(sed -E 's/"([a-z_]*id)":[0-9]+/"\1":N/g' store.out)" "$(sed -E 's/"([a-z_]*id)":[0-9]+/"\1":N/g' file.out)" "$*"
    [ -s file.out ] || fail "$* prints nothing of a file"
}
CLEAR_CACHE_SIZE=0
export CLEAR_CACHE_SIZE
for arguments in '' '--last 3' '--label nightly' '--tag branch=main' '--kind lock' '--search sort' '--before latest~3' 'last=4' 'nightly,last=2'; do
    # shellcheck disable=SC2086
    lists runs --json $arguments
    # shellcheck disable=SC2086
    "$PLAIN_CLEAR" runs --db file.db $arguments | sed -E '1,2d; s/^ *[0-9]+ +//' >want.txt
    # shellcheck disable=SC2086
    "$PLAIN_CLEAR" runs --db $STORE $arguments | sed -E '1,2d; s/^ *[0-9a-f]{8} +//' | diff -w want.txt - >diff.txt || fail "runs $arguments: $(head -5 diff.txt)"
    [ -s want.txt ] || fail "runs $arguments prints nothing"
done
uuid=$("$CLEAR" runs --db $STORE --label nightly | awk 'NR == 3 {print $1}')
[ -n "$uuid" ] && [ -z "$(sql a.db "SELECT uuid FROM runs WHERE label = 'nightly'" | grep -v "^$uuid")" ] || fail "the name of a run: '$uuid'"
"$CLEAR" doctor --db $STORE "$uuid" >/dev/null || fail "doctor $uuid"
lists trend all
asking=$PLAIN_CLEAR # the same rows of the store in other orders and words
for arguments in 'last=9 latest' '--json all' 'alloc_bytes all' 'lock_wait_ns all' "$mvcc $maps"; do
    # shellcheck disable=SC2086
    lists trend $arguments
done
asking=$CLEAR
"$CLEAR" trend --db $STORE "$mvcc" "$maps" | grep -Eq "^[a-z_]+ +(${mvcc:0:8}|${maps:0:8}) +20" || fail "the run of a change has no name that the store knows"
for of in 'function *' "$(sql a.db "SELECT 'function ' || function FROM places WHERE function GLOB '*alloc*' LIMIT 1")"; do
    lists trend --json alloc_bytes all --of "$of"
    asking=$PLAIN_CLEAR lists trend --json inuse_count all --of "$of"
done
lists trend --json alloc_bytes "$mvcc" "$maps" --of 'site *' # d.db has signatures that were written by hand
lists trend --json alloc_bytes "$mvcc" "$maps" --of '*alloc*'
lists trend --json lock_wait_ns all --of 'lock *'
asking=$PLAIN_CLEAR lists trend --json findings all # store findings asks the same rows below
unset CLEAR_CACHE_SIZE

# ---- findings of many runs: Python counts those of the files ----
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project 'second "project"' || fail push
cat >findings.py <<'PY'
import collections, json, sqlite3, sys
ranks = ['critical', 'warning', 'note', 'ok']
def want(files, project, last):
    runs = []
    for file in files:
        db = sqlite3.connect(file)
        runs += [(started, uuid, db) for started, uuid in db.execute('SELECT started_ns, uuid FROM runs')]
    runs = sorted(runs, key=lambda run: run[:2], reverse=True)[:last]
    seen = collections.OrderedDict()
    for started, uuid, db in runs:
        kept = collections.Counter() # docs/store.md: the first 100 critical ones and warnings of each code, and the first 10 others
        for section, code, severity, subject in db.execute('SELECT section, code, severity, subject FROM doctor WHERE run_id = (SELECT id FROM runs WHERE uuid = ?)', (uuid,)):
            kept[section, code, severity] += 1
            if kept[section, code, severity] > (100 if severity in ranks[:2] else 10):
                continue
            item = seen.setdefault((project, section, code, subject), [set(), uuid, started, severity])
            item[0].add(uuid)
            item[3] = min(item[3], severity, key=ranks.index)
    return {key: (len(item[0]), item[1], item[2], item[3]) for key, item in seen.items()}
last = int(sys.argv[1]) or None
expected = want(['a.db', 'b.db', 'c.db', 'd.db'], 'all', last)
if sys.argv[2] == 'both':
    expected.update(want(['c.db'], 'second "project"', last))
got = json.load(sys.stdin)
table = {(f['project'], f['section'], f['code'], f['subject']): (f['runs'], f['latest_run'], f['latest_started_ns'], f['severity']) for f in got}
assert len(table) == len(got) and len(got) >= 5, len(got)
assert table == expected, [(key, table.get(key), expected.get(key)) for key in table.keys() | expected.keys() if table.get(key) != expected.get(key)][:3]
order = [(ranks.index(f['severity']), -f['runs'], -f['latest_started_ns']) for f in got]
assert order == sorted(order), order
PY
"$CLEAR" store findings --json --last 0 --db $STORE | python3 findings.py 0 one || fail 'findings of a project'
"$CLEAR" store findings --json --last 5 --db $STORE | python3 findings.py 5 one || fail 'findings of the last runs'
"$CLEAR" store findings --json --last 0 --all-projects --db $STORE | python3 findings.py 0 both || fail 'findings of all projects'
"$CLEAR" store findings --top 3 --db $STORE >out.txt || fail 'clear store findings'
expect_equal "$(wc -l <out.txt)" 5 'lines of three findings'
expect_equal "$("$CLEAR" store findings --project 'second "project"' --top 0 --db $STORE | wc -l)" \
    "$(($("$CLEAR" store findings --project 'second "project"' --json --db $STORE | wc -l) + 2))" 'lines of all findings'

# ---- the cache ----
"$CLEAR" top --db $STORE "$mvcc" >want.txt || fail top
file=$(find "$cached" -name "$mvcc-*")
names=$(find "$cached" -name "$mvcc-*" | wc -l)
expect_equal "$names" 1 'files of a run'
served() { "$CLEAR" top --db $STORE "$mvcc" 2>err.txt | diff want.txt - >diff.txt || fail "$1: $(cat diff.txt err.txt)"; }
inode() { stat -c %i "$file"; }
before=$(inode)
served 'a cached run'
expect_equal "$(inode)" "$before" 'a cached run is not written again'
byte() { od -An -tx1 -j 200 -N 1 "$file"; }
good=$(byte)
printf 'x' | dd of="$file" bs=1 seek=200 conv=notrunc 2>/dev/null
[ "$(byte)" != "$good" ] || fail 'the byte is an x already'
served 'a changed byte'
expect_equal "$(byte)" "$good" 'the byte of a damaged file' # not the inode: the next file may get the one that was freed
truncate -s 100 "$file"
served 'a short file'
[ "$(stat -c %s "$file")" -gt 100 ] || fail 'a short file was not replaced'
: >"$file"
served 'an empty file'
for i in 1 2 3 4; do "$PLAIN_CLEAR" top --db $STORE "$mvcc" >many.$i 2>many.err.$i & done
rm -f "$file"
wait
for i in 1 2 3 4; do diff want.txt many.$i >diff.txt || fail "one of four at once: $(cat diff.txt many.err.$i)"; done
rm -rf "$XDG_CACHE_HOME"
: >"$XDG_CACHE_HOME"
served 'a cache that cannot be made'
rm -f "$XDG_CACHE_HOME"
CLEAR_CACHE_SIZE=0 served 'no cache'
[ ! -e "$XDG_CACHE_HOME" ] || fail 'a cache that nobody wants was made'
# A limit: what was not used for the longest time goes.
served 'a new cache'
touch -d '2 hours ago' "$cached"/*
: >"$cached/new.abc" && touch -d '2 hours ago' "$cached/new.abc"
CLEAR_CACHE_SIZE=1 "$CLEAR" top --db $STORE "$maps" >/dev/null || fail top
[ -z "$(find "$cached" -type f)" ] || fail "over the limit: $(ls "$cached")"

# ---- other ways to say it ----
"$PLAIN_CLEAR" doctor --db $STORE "$mvcc" >want.txt || fail doctor
CLEAR_DB=$STORE "$PLAIN_CLEAR" doctor "$mvcc" | diff want.txt - >diff.txt || fail "CLEAR_DB: $(cat diff.txt)"
printf 'database: %s\n' $STORE >store.yaml
"$PLAIN_CLEAR" --config store.yaml doctor "$mvcc" | diff want.txt - >diff.txt || fail "database: $(cat diff.txt)"
CLEAR_PROJECT=none "$PLAIN_CLEAR" doctor --db $STORE --project all "$mvcc" | sed 's/--project [a-z]*/--project all/' | diff want.txt - >diff.txt || fail "--project: $(cat diff.txt)"

# ---- runs in SQL, and sets with a comma ----
for query in "SELECT :run > 0" '@hot-functions' '@hot-functions run=latest' "SELECT :run > 0 run=latest"; do
    "$PLAIN_CLEAR" query --db $STORE "${query%% run=*}" ${query##"${query%% run=*}"} >out.txt 2>err.txt || fail "query $query: $(cat err.txt)"
done
export XDG_CACHE_HOME=$PWD/comma
"$CLEAR" query --db $STORE --list >out.txt 2>err.txt || fail "query --list: $(cat err.txt)"
"$CLEAR" query --db file.db --list 2>/dev/null | diff - out.txt >diff.txt || fail "the saved queries of a store: $(cat diff.txt)"
[ -z "$(find "$XDG_CACHE_HOME" -type f)" ] || fail 'query --list fetched runs'
pg "INSERT INTO clear.tags(project, month, run, place, key, value) SELECT project, month, run, 1000, 'some', 'of' FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'all'" || fail tags
for command in 'top tag:some=of,last=2' 'doctor tag:some=of,last=2 --diff latest' 'doctor latest --diff tag:some=of,last=2' 'doctor tag:some=of,last=2 --together' 'gate latest --base tag:some=of,last=2' 'export tag:some=of,last=2 -o set.pb.gz'; do
    rm -rf "$XDG_CACHE_HOME"
    # shellcheck disable=SC2086
    "$asking" $command --db $STORE >/dev/null 2>err.txt
    asking=$PLAIN_CLEAR
    expect_equal "$(find "$XDG_CACHE_HOME/clear/runs" -type f | wc -l)" 2 "runs that $command fetched: $(cat err.txt)"
done
"$CLEAR" doctor --db $STORE "$mvcc,$maps" --together >out.txt 2>err.txt || fail "doctor --together: $(cat err.txt)"
expect_match "$(grep -m1 together: out.txt)" "^2 runs [(]$mvcc,$maps[)], together: " 'runs of a store together'

# ---- what is refused ----
refused() { # refused STATUS PATTERN COMMAND...
    "$CLEAR" "${@:3}" >out.txt 2>err.txt
    expect_equal $? "$1" "status of ${*:3}: $(cat err.txt)"
    expect_match "$(cat err.txt)" "$2" "${*:3}"
    [ "$(wc -l <err.txt)" = 1 ] || fail "more than a line: $(cat err.txt)"
}
count=$(pg 'SELECT count(*) FROM clear.runs')
for command in 'profile true' 'bench true' 'bisect --figure alloc_count --bad HEAD --good HEAD true' 'ingest a.txt' 'recover --json' 'gc --dry-run' \
    'query --save x SELECT' 'query --forget x' 'trend --accept latest alloc_bytes why' 'gate --run true' 'push all'; do
    # shellcheck disable=SC2086
    CLEAR=$PLAIN_CLEAR refused 2 "team's store: this needs a file.*clear pull.*clear push" ${command%% *} --db $STORE $(cut -s -d" " -f2- <<<"$command")
done
refused 2 "team's store: this needs a file.*clear pull.*clear push" merge $STORE a.db
expect_equal "$(pg 'SELECT count(*) FROM clear.runs')" "$count" 'runs after what was refused'
refused 2 "no run is 'nothing'" doctor --db $STORE nothing
refused 2 "no run is '3'" doctor --db $STORE 3
refused 2 "no run is" doctor --db $STORE "'); DROP TABLE clear.runs; --"
refused 2 "no run is" doctor --db $STORE "k'=' OR 1=1 --"
refused 2 "no runs in project other; there are: all \([0-9]+\)" doctor --db $STORE --project other latest
refused 2 "no runs in project other; there are: all \([0-9]+\)" runs --db $STORE --project other
refused 2 "no runs in project other; there are: all \([0-9]+\)" trend --db $STORE --project other
CLEAR_DB=$STORE refused 2 "no project 'other'" store findings --project other
refused 2 "no project 'other'" store findings --db $STORE --project other
refused 2 'exclude each other' store findings --db $STORE --project all --all-projects
refused 2 '--runs last=20' query --db $STORE 'SELECT count(*) FROM runs'
refused 2 'is for a store' doctor --db a.db --runs last=2
CLEAR_CACHE_SIZE=much refused 2 'CLEAR_CACHE_SIZE' doctor --db $STORE
refused 2 'pgpass' doctor --db 'postgresql://clear:s3cret@/profiles' latest
refused 1 '^clear: postgresql:///none: ' doctor --db "postgresql:///none?host=$PG" latest
! grep -q s3cret err.txt || fail 'a password in a message'
pg "UPDATE clear.functions SET name = name || 'x' WHERE name = 'main'" || fail update
CLEAR_CACHE_SIZE=0 refused 1 'is damaged: function' doctor --db $STORE "$mvcc"
postgres_stop
PGPASSWORD=s3cret refused 1 '^clear: postgresql:///profiles: ' doctor --db $STORE latest
! grep -q s3cret err.txt || fail 'a password in a message'
exit 0
