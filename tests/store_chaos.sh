# Eight writers push the same runs while they are killed and the server is restarted: no deadlock, no run is lost, none is there twice or in
# half, and what comes back is what went in. CHAOS_KILLS=2 CHAOS_RESTARTS=1 CHAOS_SECONDS=0: how much of it; `make test-store-chaos` has 100
# kills and 10 restarts in at least 60 s.
# timeout: 900
# build: plain
# longer: CHAOS_KILLS=10 CHAOS_RESTARTS=2
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
: "${CHAOS_KILLS:=2}" "${CHAOS_RESTARTS:=1}" "${CHAOS_SECONDS:=0}"
postgres_start -c log_lock_waits=on -c deadlock_timeout=200ms
"$CLEAR" store init --db $STORE >/dev/null || fail init
ingest_corpus
# Files with the same names and other runs: two writers share each of four files. Many rounds, so that there is always something to send.
cat >files.py <<'PY'
import shutil, sqlite3, sys, uuid
for i in range(4):
    shutil.copy('c.db', f'w{i}.db')
    db = sqlite3.connect(f'w{i}.db')
    for id, in db.execute('SELECT id FROM runs').fetchall():
        db.execute('UPDATE runs SET uuid = ?, content_hash = NULL WHERE id = ?', (str(uuid.uuid5(uuid.NAMESPACE_URL, f'{i}/{id}')), id))
    db.commit()
PY
python3 files.py || fail files.py
# A writer pushes its file to one project after another, again and again, until it may stop; what it pushed whole it notes.
writer() { # writer NUMBER
    local round=0
    while [ ! -e stop ]; do
        if "$CLEAR" push -q --db w$(($1 % 4)).db --to $STORE --project round$((round % 1000)) 2>>err.$1; then
            echo "$(($1 % 4)) round$((round % 1000))" >>done.$1
            round=$((round + 1))
        else
            sleep 0.2 # the server is away, or starts
        fi
    done
}
for i in 0 1 2 3 4 5 6 7; do writer $i 2>/dev/null & writers[i]=$!; done
trap 'touch stop; wait; postgres_stop; rm -rf "$PG"' EXIT
answers() { psql -XqAt -c 'SELECT 1' >/dev/null 2>&1; }
busy() { [ "$(psql -XqAt -c "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state <> 'idle'" 2>/dev/null || echo 0)" -ge 2 ]; }
begun=$SECONDS restarts=0 kills=0 victim=
whole() { cat done.* 2>/dev/null | wc -l; }
while [ $kills -lt "$CHAOS_KILLS" ] || [ "$(whole)" -lt 8 ] || [ $restarts -lt "$CHAOS_RESTARTS" ] || [ $((SECONDS - begun)) -lt "$CHAOS_SECONDS" ]; do
    wait_for 'writers that write' busy
    # A child of a writer's shell is its clear; one that has just ended is no loss.
    [ $kills -ge "$CHAOS_KILLS" ] || victim=$(pgrep -P "${writers[$((RANDOM % 8))]}" -x clear | head -1)
    if [ -n "$victim" ] && kill -KILL "$victim" 2>/dev/null; then kills=$((kills + 1)); fi
    victim=
    if [ $((kills * CHAOS_RESTARTS)) -ge $(((restarts + 1) * CHAOS_KILLS)) ] && [ $restarts -lt "$CHAOS_RESTARTS" ]; then
        postgres_stop "$([ $((restarts % 2)) = 0 ] && echo immediate || echo fast)"
        postgres_run -c log_lock_waits=on -c deadlock_timeout=200ms
        wait_for 'the server' answers
        restarts=$((restarts + 1))
    fi
    sleep 0.3 # several kills in the time of a push would leave none whole
done
touch stop
wait "${writers[@]}" 2>/dev/null

# ---- what the server says ----
! grep -i -E 'deadlock detected|duplicate key|PANIC' "$PG/log" || fail "the server's log"
# ---- no run in half, none twice, and none that a writer was told of is missing ----
expect_equal "$(pg "SELECT count(*) FROM clear.run_names AS n FULL JOIN clear.runs AS r USING (project, month, run) WHERE n.run IS NULL OR r.run IS NULL")" 0 'half runs'
expect_equal "$(pg "SELECT count(*) FROM (SELECT project, run FROM clear.runs GROUP BY 1, 2 HAVING count(*) > 1) AS twice")" 0 'runs that are there twice'
expect_equal "$(pg "SELECT count(*) FROM (SELECT project, run, place FROM clear.profiles GROUP BY 1, 2, 3 HAVING count(*) > 1) AS twice")" 0 'profiles that are there twice'
sort -u done.* >told.txt
while read -r file project; do
    for uuid in $(sql w$file.db 'SELECT uuid FROM runs'); do echo "$project $uuid"; done
done <told.txt | sort >want.txt
pg "SELECT name || ' ' || run FROM clear.runs JOIN clear.projects USING (project)" | sort >got.txt
[ -z "$(comm -23 want.txt got.txt)" ] || fail "runs that are lost: $(comm -23 want.txt got.txt | head -3)"
# ---- it is whole: what was pushed comes back, of a project that every file went to ----
project=$(sed 's/.* //' told.txt | sort | uniq -c | sort -rn | awk 'NR == 1 {print $2}')
for i in 0 1 2 3; do "$CLEAR" push -q --db w$i.db --to $STORE --project "$project" 2>err.txt || fail "push at the end: $(cat err.txt)"; done
"$CLEAR" pull -q all --from $STORE --project "$project" --db back.db 2>err.txt || fail "pull: $(cat err.txt)"
check_db back.db
expect_equal "$(sql back.db 'SELECT count(*) FROM runs')" $((4 * runs)) 'runs that came back'
for table in sites cpu samples locks; do
    expect_equal "$(sql back.db "SELECT count(*) FROM $table")" "$((4 * $(sql c.db "SELECT count(*) FROM $table")))" "rows of $table that came back"
done
echo "$kills kills, $restarts restarts, $((SECONDS - begun)) s, $(wc -l <got.txt) runs"
exit 0
