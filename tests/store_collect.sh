# clear collect --to: the runs of programs that record themselves go to a team's store. While it is away they wait, and they go when it is
# back, also where no program ends any more; a collector that is killed before it notes a run for the store notes it when it begins again.
# timeout: 240
# leaks: a collector that goes on running
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
postgres_start
"$CLEAR" store init --db $STORE >/dev/null || fail init
mkdir -m 1777 dir
export CLEAR_PROJECT=team
service() { (eval "$("$PLAIN_CLEAR" env --dir "$TMP/dir" --cpu=off 2>/dev/null)" && exec sh -c "exit $1"); } # it is told by its command
collecting=("$CLEAR" collect --dir "$TMP/dir" --db t.db --to $STORE --every off)
collect() { "${collecting[@]}" --once; }
arrived() { pg "SELECT string_agg(substring(command FROM '[0-9]'), ' ' ORDER BY substring(command FROM '[0-9]')) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'team'"; }
waiting() { if [ -e t.db.push ]; then wc -l <t.db.push; else echo 0; fi; }

# ---- a look ----
service 1
collect >out.txt 2>err.txt || fail "clear collect --once: $(cat err.txt)"
expect_equal "$(arrived)" 1 'a run that was collected'
expect_match "$(cat err.txt)" '1 run pushed' 'what is said of it'
expect_equal "$(waiting)" 0 'runs that wait'

postgres_stop fast
service 2
collect >out.txt 2>err.txt || fail "clear collect --once: $(cat err.txt)"
expect_match "$(cat err.txt)" '1 run waits for the store' 'a store that is away'
postgres_run
collect >out.txt 2>err.txt || fail "clear collect --once: $(cat err.txt)"
expect_equal "$(arrived)" '1 2' 'a run that waited, after a look that finds no other'
expect_equal "$(waiting)" 0 'runs that wait afterwards'

# It is stored, and could not be noted for the store.
service 3
mkdir t.db.push
expect_status 1 collect >out.txt 2>err.txt
expect_equal "$(sql t.db "SELECT count(*) FROM runs WHERE command LIKE '%3%'") $(arrived)" '1 1 2' 'what could not be noted'
rmdir t.db.push
collect >out.txt 2>err.txt || fail "clear collect --once: $(cat err.txt)"
expect_equal "$(sql t.db 'SELECT count(*) FROM runs') $(arrived)" '3 1 2 3' 'what could not be noted, at the next look'
expect_equal "$(find dir t.db.collect -mindepth 1 2>/dev/null)" '' 'what is left'

# ---- a collector that goes on ----
postgres_stop fast
"${collecting[@]}" --quiet >daemon.txt 2>&1 &
collector=$!
service 4
wait_for_text 'waits? for the store' daemon.txt
postgres_run
back() { [ "$(arrived)" = '1 2 3 4' ]; }
wait_for 'the run to be sent when the store is back' back
kill $collector
wait $collector || fail "a collector that is asked to end: $(cat daemon.txt)"
expect_equal "$(waiting)" 0 'runs that wait for a collector that goes on'
