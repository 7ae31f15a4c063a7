# --db postgresql://...: every command that reads prints of a store what it prints of a file with the same runs, and exports the same bytes; runs come
# from the cache the second time, and from the server where the cache is damaged, full or cannot be written; what writes refuses a store.
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
. "$(dirname "$0")/warehouses.sh"
postgres_start
export XDG_CACHE_HOME=$PWD/cache CLEAR_PROJECT=all
unset CLEAR_CACHE_SIZE CLEAR_DB
cached=$XDG_CACHE_HOME/clear/runs

make_warehouses
"$CLEAR" store init --db $STORE >/dev/null || fail init
for db in a b c d; do "$CLEAR" push -q --db $db.db --to $STORE 2>err.txt || fail "push of $db.db: $(cat err.txt)"; done
of() { sql a.db "SELECT uuid FROM runs WHERE $1 ORDER BY started_ns DESC LIMIT 1"; }
mvcc=$(of "command LIKE '%mvcc%'") maps=$(of "command LIKE '%maps'") traced=$(of 'id IN (SELECT run_id FROM processes JOIN events ON process_id = processes.id)')
[ -n "$mvcc" ] && [ -n "$maps" ] && [ -n "$traced" ] || fail "the runs of a.db: '$mvcc' '$maps' '$traced'"

# ---- as of a file ----
# What names the warehouse or a number of a run differs: the lines of commands under "next".
plain() { sed -e "s|$STORE|WAREHOUSE|g; s|file[.]db|WAREHOUSE|g" -e '/^next$/,/^$/d'; }
same() { # same SET COMMAND [ARGUMENTS]: the file has the runs of SET and no others
    rm -f file.db
    "$CLEAR" pull -q "$1" --from $STORE --db file.db 2>err.txt || fail "pull $1: $(cat err.txt)"
    "$CLEAR" "$2" --db file.db "${@:3}" >file.out 2>file.err
    local status=$?
    local runs=()
    [[ $1 != *,* ]] || runs=(--runs "$1") # numbers follow the order in which runs are fetched
    "$CLEAR" "$2" --db $STORE "${runs[@]}" "${@:3}" >store.out 2>store.err
    expect_equal $? $status "status of ${*:2}: $(cat store.err)"
    [ -s file.out ] || fail "${*:2} prints nothing of a file: $(cat file.err)"
    plain <file.out >want.txt
    plain <store.out | diff want.txt - >diff.txt || fail "${*:2} of a store: $(head -20 diff.txt)"
    plain <file.err >want.txt
    plain <store.err | diff want.txt - >diff.txt || fail "messages of ${*:2} of a store: $(head -20 diff.txt)"
}
for uuid in $(sql a.db 'SELECT uuid FROM runs') $(sql b.db 'SELECT uuid FROM runs') $(sql c.db 'SELECT uuid FROM runs') $(sql d.db 'SELECT uuid FROM runs'); do
    same "$uuid" doctor "$uuid"
done
[ "$(find "$cached" -name '*.run' | wc -l)" -ge 20 ] || fail "kept: $(ls "$cached")"
[ -z "$(find "$cached" -name 'new.*')" ] || fail "left behind: $(ls "$cached")"
[ -z "$(find "$cached" \( -type f ! -perm 600 -o -type d ! -perm 700 \))" ] || fail "others may read: $(ls -l "$cached")"
same "$mvcc" doctor --json "$mvcc"
same "$mvcc" top "${mvcc:0:8}"
same "$mvcc" tree "$mvcc"
same "$mvcc" peek main "$mvcc"
same "$mvcc" report -traces "$mvcc"
same "$traced" trace "$traced"
same "$mvcc" query @churn "run=$mvcc"
same "$mvcc" query --json 'SELECT * FROM heap JOIN frames USING (trace_id) WHERE run_id = :run ORDER BY trace_id, depth' "run=$mvcc"
same nightly doctor nightly
same branch=main doctor branch=main
same latest doctor latest
same latest doctor
same latest doctor last=1
same last=2 doctor latest~1
same "$mvcc,$maps" doctor --diff "$mvcc" "$maps"
same "$mvcc,$maps" gate --base "$mvcc" "$maps"
same "$mvcc,$maps" trend "$mvcc" "$maps"
same "$mvcc" top "$mvcc" # again, from the cache
rm -f file.db
"$CLEAR" pull -q last=3 --from $STORE --db file.db || fail pull
for what in 'SELECT code, subject, evidence FROM doctor' 'SELECT kind, count(*) FROM profiles GROUP BY 1'; do
    "$CLEAR" query --db file.db "$what" >want.txt || fail query
    "$CLEAR" query --db $STORE --runs last=3 "$what" | diff want.txt - >diff.txt || fail "query of a store: $(cat diff.txt)"
done
# Bytes.
exports a.db want
while read -r uuid kind; do
    "$CLEAR" export --db $STORE "$uuid" --kind "$kind" -o got.pb.gz 2>err.txt || { [ -s "want/$uuid.${kind//\//_}.refused" ] && continue; } || fail "export of $uuid: $(cat err.txt)"
    cmp "want/$uuid.${kind//\//_}.pb.gz" got.pb.gz || fail "$kind of $uuid"
done < <(sql a.db "SELECT DISTINCT uuid || ' ' || kind FROM runs JOIN profiles ON run_id = runs.id")

# ---- the cache ----
"$CLEAR" doctor --db $STORE "$mvcc" >want.txt || fail doctor
file=$(find "$cached" -name "$mvcc-*")
names=$(find "$cached" -name "$mvcc-*" | wc -l)
expect_equal "$names" 1 'files of a run'
served() { "$CLEAR" doctor --db $STORE "$mvcc" 2>err.txt | diff want.txt - >diff.txt || fail "$1: $(cat diff.txt err.txt)"; }
inode() { stat -c %i "$file"; }
before=$(inode)
served 'a cached run'
expect_equal "$(inode)" "$before" 'a cached run is not written again'
printf 'x' | dd of="$file" bs=1 seek=200 conv=notrunc 2>/dev/null
served 'a changed byte'
[ "$(inode)" != "$before" ] || fail 'a damaged file was not replaced'
before=$(inode)
truncate -s 100 "$file"
served 'a short file'
[ "$(inode)" != "$before" ] || fail 'a short file was not replaced'
: >"$file"
served 'an empty file'
for i in 1 2 3 4; do "$CLEAR" doctor --db $STORE "$mvcc" >many.$i 2>&1 & done
rm -f "$file"
wait
for i in 1 2 3 4; do diff want.txt many.$i >diff.txt || fail "one of four at once: $(cat diff.txt)"; done
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
CLEAR_CACHE_SIZE=1 "$CLEAR" doctor --db $STORE "$maps" >/dev/null || fail doctor
[ -z "$(find "$cached" -type f)" ] || fail "over the limit: $(ls "$cached")"

# ---- other ways to say it ----
CLEAR_DB=$STORE "$CLEAR" doctor "$mvcc" | diff want.txt - >diff.txt || fail "CLEAR_DB: $(cat diff.txt)"
printf 'database: %s\n' $STORE >store.yaml
"$CLEAR" --config store.yaml doctor "$mvcc" | diff want.txt - >diff.txt || fail "database: $(cat diff.txt)"
CLEAR_PROJECT=none "$CLEAR" doctor --db $STORE --project all "$mvcc" | sed 's/--project [a-z]*/--project all/' | diff want.txt - >diff.txt || fail "--project: $(cat diff.txt)"

# ---- what is refused ----
refused() { # refused STATUS PATTERN COMMAND...
    "$CLEAR" "${@:3}" >out.txt 2>err.txt
    expect_equal $? "$1" "status of ${*:3}: $(cat err.txt)"
    expect_match "$(cat err.txt)" "$2" "${*:3}"
    [ "$(wc -l <err.txt)" = 1 ] || fail "more than a line: $(cat err.txt)"
}
count=$(pg 'SELECT count(*) FROM clear.runs')
for command in 'profile true' 'bench true' 'bisect --figure alloc_count --bad HEAD --good HEAD true' 'ingest a.txt' 'recover --json' 'gc --dry-run' 'tag latest a=b' 'label latest x' 'pin latest' 'rm latest' \
    'query --save x SELECT' 'query --forget x' serve web shell 'trend --accept latest alloc_bytes why' 'gate --run true' 'push all'; do
    # shellcheck disable=SC2086
    refused 2 "team's store: this needs a file.*clear pull.*clear push" ${command%% *} --db $STORE $(cut -s -d" " -f2- <<<"$command")
done
refused 2 "team's store: this needs a file.*clear pull.*clear push" merge $STORE a.db
expect_equal "$(pg 'SELECT count(*) FROM clear.runs')" "$count" 'runs after what was refused'
refused 2 "no run is 'nothing'" doctor --db $STORE nothing
refused 2 "no run is '3'" doctor --db $STORE 3
refused 2 "no run is" doctor --db $STORE "'); DROP TABLE clear.runs; --"
refused 2 "no run is" doctor --db $STORE "k'=' OR 1=1 --"
refused 2 "project other: no run is" doctor --db $STORE --project other latest
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
