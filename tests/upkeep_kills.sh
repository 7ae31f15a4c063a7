# SIGKILL of clear gc and of clear merge at random moments: the file is valid, every run that is to stay exports the same bytes, and the next
# gc or merge goes on.
# KILLS=60 is what `make attack` makes; `make long` 6, and the suite 1.
# timeout: 900
# build: plain
# longer: KILLS=6
. "$(dirname "$0")/lib.sh"
kills=${KILLS:-1}

profile -q -- true && "$CLEAR" rm --db t.db latest >/dev/null && "$CLEAR" gc --db t.db >/dev/null || fail 'an empty warehouse'
cp t.db empty.db
python3 "$ROOT/bench/make_warehouse.py" t.db 1500 60 || fail 'runs'
# Every hundredth run stays. The names of tables have other runs' names among them, so that much is swept.
sql t.db "UPDATE runs SET label = 'keep' WHERE id % 100 = 1"
kept=$(sql t.db "SELECT group_concat(id, ' ') FROM (SELECT id FROM runs WHERE label = 'keep' OR id = 1500 ORDER BY id)")
exports() { # exports DB DIR: the profile of each run that stays
    mkdir -p "$2"
    local run
    for run in $kept; do "$CLEAR" export --db "$1" "$run" --kind heap -o "$2/$run.pb.gz" >/dev/null || fail "run $run of $1"; done
}
exports t.db before
milliseconds() { echo $((${EPOCHREALTIME//[.,]/} / 1000)); }
cp t.db r.db
began=$(milliseconds)
"$CLEAR" gc --db r.db --keep 0d >/dev/null || fail 'gc'
span=$(($(milliseconds) - began))
expect_equal "$(sql r.db "SELECT group_concat(id, ' ') FROM (SELECT id FROM runs ORDER BY id)")" "$kept" 'what stays'

met=0
for round in $(seq $((kills * 5))); do
    [ $met -lt "$kills" ] || break
    cp t.db r.db && rm -f r.db-*
    "$CLEAR" gc --db r.db --keep 0d >/dev/null 2>&1 &
    pid=$!
    sleep "$(awk -v most=$span -v random=$RANDOM 'BEGIN {printf "%.3f", most * random / 32768 / 1000}')"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null && continue # it was faster
    met=$((met + 1))
    check_db r.db
    expect_equal "$(sql r.db "SELECT count(*) FROM runs WHERE label = 'keep' OR id = 1500")" "$(wc -w <<<"$kept")" "runs that stay, round $round"
    # A run is there as a whole or not at all.
    expect_equal "$(sql r.db 'SELECT count(*) FROM runs WHERE (SELECT count(*) FROM site_rows WHERE profile_id = runs.id) <> 60')" 0 "rows of runs, round $round"
    rm -rf after
    exports r.db after
    diff -r before after >&2 || fail "exports after kill $round"
    "$CLEAR" gc --db r.db --keep 0d >/dev/null || fail "gc after kill $round"
    expect_equal "$(sql r.db "SELECT group_concat(id, ' ') FROM (SELECT id FROM runs ORDER BY id)")" "$kept" "what stays after kill $round"
    expect_equal "$(sql r.db 'SELECT count(*) FROM traces WHERE id NOT IN (SELECT trace_id FROM sites) AND id <> 0; PRAGMA freelist_count')" $'0\n0' "what is swept after kill $round"
done
[ $met -ge "$kills" ] || fail "only $met kills met clear gc, in $round rounds of $span ms"

# ---- clear merge: a file is there as a whole or not at all ----
for part in 1 2 3 4; do
    python3 "$ROOT/bench/make_warehouse.py" "$(cp empty.db part$part.db && echo part$part.db)" 60 120 2000 10 $part || fail 'a part'
    sql part$part.db "UPDATE runs SET uuid = '$part' || substr(uuid, 2)"
done
by_uuid() { # by_uuid DB DIR: an export of some runs of each part
    mkdir -p "$2"
    sql "$1" "SELECT id, uuid FROM runs WHERE substr(uuid, -1) = '7'" | while IFS='|' read -r run uuid; do
        "$CLEAR" export --db "$1" "$run" --kind heap -o "$2/$uuid.pb.gz" >/dev/null || fail "run $run of $1"
    done
}
for part in 1 2 3 4; do by_uuid part$part.db parts; done
"$CLEAR" merge -q base.db part1.db || fail 'merge'
began=$(milliseconds)
cp base.db m.db && "$CLEAR" merge -q m.db part2.db part3.db part4.db || fail 'merge'
span=$(($(milliseconds) - began)) merged=0
for round in $(seq $((kills * 5))); do
    [ $merged -lt "$kills" ] || break
    rm -f m.db-* && cp base.db m.db
    "$CLEAR" merge -q m.db part2.db part3.db part4.db &
    pid=$!
    sleep "$(awk -v most=$span -v random=$RANDOM 'BEGIN {printf "%.3f", most * random / 32768 / 1000}')"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null && continue
    merged=$((merged + 1))
    check_db m.db
    expect_equal "$(sql m.db 'SELECT count(*) % 60, min((SELECT count(*) FROM site_rows WHERE profile_id = profiles.id)) FROM runs JOIN profiles ON run_id = runs.id')" '0|120' "runs after kill $round of a merge"
    rm -rf got && by_uuid m.db got
    for file in got/*; do cmp "$file" "parts/${file#got/}" || fail "export after kill $round of a merge"; done
    "$CLEAR" merge -q m.db part2.db part3.db part4.db || fail "merge after kill $round"
    rm -rf got && by_uuid m.db got
    diff -r parts got >&2 || fail "exports after kill $round and another merge"
done
[ $merged -ge "$kills" ] || fail "only $merged kills met clear merge, in $round rounds of $span ms"
echo "$((met + merged)) attempts, each a kill that met clear gc ($met) or clear merge ($merged)"
