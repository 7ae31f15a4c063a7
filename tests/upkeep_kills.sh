# SIGKILL of clear gc at random moments: the file is valid, every run that is to stay exports the same bytes, and the next gc goes on.
# KILLS=60 is what `make attack` makes; the suite makes fewer.
# timeout: 900
. "$(dirname "$0")/lib.sh"
kills=${KILLS:-6}

profile -q -- true && "$CLEAR" rm --db t.db latest >/dev/null && "$CLEAR" gc --db t.db >/dev/null || fail 'an empty warehouse'
python3 "$ROOT/bench/make_warehouse.py" t.db 1500 60 || fail 'runs'
# Every hundredth run stays. The names of tables have other runs' names among them, so that much is swept.
sql t.db "UPDATE runs SET label = 'keep' WHERE id % 100 = 1"
kept=$(sql t.db "SELECT group_concat(id, ' ') FROM runs WHERE label = 'keep' OR id = 1500")
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
expect_equal "$(sql r.db "SELECT group_concat(id, ' ') FROM runs")" "$kept" 'what stays'

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
    expect_equal "$(sql r.db "SELECT group_concat(id, ' ') FROM runs")" "$kept" "what stays after kill $round"
    expect_equal "$(sql r.db 'SELECT count(*) FROM traces WHERE id NOT IN (SELECT trace_id FROM sites) AND id <> 0; PRAGMA freelist_count')" $'0\n0' "what is swept after kill $round"
done
[ $met -ge "$kills" ] || fail "only $met kills met clear gc, in $round rounds of $span ms"
echo "$met attempts, each a kill that met clear gc"
