# clear store move: a project to another server and back, in pieces, while others read and push; interrupted in the middle and at the end; what was
# edited or removed meanwhile; and runs of some months, or of one program, to another project. Nothing is there twice, or missing.
# timeout: 500
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
. "$(dirname "$0")/warehouses.sh"
postgres_start_several 2
on() { PGHOST=${places[$1]} pg "$2"; }
make_warehouses
"$PLAIN_CLEAR" merge -q all.db a.db b.db 2>err.txt || fail "merge: $(cat err.txt)"
# In the three months before this one.
sql all.db "UPDATE runs SET started_ns = CAST(strftime('%s', 'now', 'start of month', '-' || (id % 3 + 1) || ' months') AS INTEGER) * 1000000000 + id"
runs=$(sql all.db 'SELECT count(*) FROM runs')
[ "$runs" -ge 9 ] || fail "few runs: $runs"
months=$(sql all.db "SELECT DISTINCT strftime('%Y%m', started_ns / 1000000000, 'unixepoch') FROM runs ORDER BY 1")
read -r first second third <<<"$(tr '\n' ' ' <<<"$months")"
"$PLAIN_CLEAR" push -q --db all.db --to "${url[0]}" --project app 2>err.txt || fail "push: $(cat err.txt)"
"$PLAIN_CLEAR" push -q last=5 --db c.db --to "${url[0]}" --project stays 2>err.txt || fail "push: $(cat err.txt)"
stays=$(on 0 "SELECT count(*), sum(number) FROM clear.run_names JOIN clear.projects USING (project) WHERE name = 'stays'")
listed() { "$PLAIN_CLEAR" runs --all --json --db "${url[${2:-0}]}" --project "$1" 2>err.txt | grep -o '"uuid":"[^"]*"' | sort; }
move() { "$CLEAR" store move --project app --at "${url[$2]}" --db "${url[$1]}" "${@:3}"; }
listed app >want.txt
expect_equal "$(wc -l <want.txt)" "$runs" 'runs before'

# ---- refused, and tried ----
expect_status 2 "$CLEAR" store move --project app --db "${url[0]}" 2>err.txt
expect_match "$(cat err.txt)" 'say what goes where' 'a move to nowhere'
expect_status 2 "$CLEAR" store move --project app --at "${url[1]}" --until 2026-01 --db "${url[0]}" 2>err.txt
expect_status 2 "$CLEAR" store move --project app --as old --until 2026-13 --db "${url[0]}" 2>err.txt
expect_status 2 "$CLEAR" store move --project nosuch --at "${url[1]}" --db "${url[0]}" 2>err.txt
expect_status 1 move 0 0 2>err.txt
expect_match "$(cat err.txt)" 'is the same store' 'a move to itself'
expect_status 1 "$CLEAR" store shard --project app --at "${url[1]}" --db "${url[0]}" 2>err.txt
expect_match "$(cat err.txt)" 'clear store move' 'a shard of a project with runs'
on 1 'CREATE ROLE other LOGIN' && "$CLEAR" store grant --db "${url[1]}" >/dev/null && on 1 'GRANT clear_push TO other' || fail role
expect_status 1 "$CLEAR" store move --project app --at "${url[1]/clear@/other@}" --db "${url[0]}" 2>err.txt
expect_match "$(cat err.txt)" 'permission denied' 'a move by who owns nothing there'
move 0 1 -n >trial.txt || fail 'a trial'
expect_match "$(cat trial.txt)" "would move $runs runs of project app" 'a trial'

# ---- killed after the first month ----
blocked() { [ "$(on "$1" 'SELECT count(*) > 0 FROM pg_locks WHERE NOT granted')" = t ]; }
hold() { # hold SERVER TABLE MODE
    PGHOST=${places[$1]} psql -Xq -c BEGIN -c "LOCK TABLE clear.$2 IN $3 MODE" -c 'SELECT pg_sleep(300)' >/dev/null 2>&1 &
    wait_for "a lock on $2" eval '[ "$(on '"$1"' "SELECT count(*) FROM pg_locks WHERE granted AND relation = '"'clear.$2'::regclass"' AND mode = replace(initcap('"'$3'"'), '"' ', ''"') || '"'Lock'"'")" = 1 ]'
}
release() { on "$1" "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(300)%' AND pid <> pg_backend_pid()" >/dev/null; }
killed_move() { # killed_move SERVER: of which it waits for a lock
    "$CLEAR" store move --project app --at "${url[1]}" --db "${url[0]}" >/dev/null 2>&1 &
    local pid=$!
    wait_for 'the move meets the lock' blocked "$1"
    kill -9 $pid
    wait $pid 2>/dev/null
    release "$1"
}
on 1 "SELECT clear.make_month(to_date('$second', 'YYYYMM'))" >/dev/null || fail make_month
hold 1 "sites_$second" 'ACCESS EXCLUSIVE'
killed_move 1
there=$(on 1 'SELECT count(*) FROM clear.run_names')
[ "$there" -gt 0 ] && [ "$there" -lt "$runs" ] || fail "runs there after a kill: $there of $runs"
expect_equal "$(listed app)" "$(cat want.txt)" 'runs after a kill in the middle'
# What was copied is tagged and removed where it still is.
read -r tagged gone <<<"$(on 0 "SELECT run FROM clear.run_names JOIN clear.projects USING (project) WHERE name = 'app' AND month = to_date('$first', 'YYYYMM') ORDER BY run LIMIT 2" | tr '\n' ' ')"
"$CLEAR" tag "$tagged" moved=yes --db "${url[0]}" --project app >/dev/null && "$CLEAR" rm "$gone" --force --db "${url[0]}" --project app >/dev/null || fail 'tag and rm'
grep -v "$gone" want.txt >rest.txt

# ---- killed when the project is there, and its runs are still here ----
hold 0 tags SHARE
killed_move 0
expect_equal "$(on 0 "SELECT count(*) FROM clear.shards")" 1 'the project is there'
[ "$(on 0 "SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'app'")" -gt 0 ] || fail 'nothing is here any more'
expect_equal "$(listed app)" "$(cat rest.txt)" 'runs after a kill at the end'
"$CLEAR" store status --json --db "${url[0]}" | grep -q '"name":"app"' && fail 'status counts what is elsewhere'
expect_equal "$("$PLAIN_CLEAR" push --json --db all.db --to "${url[0]}" --project app | grep -o '"pushed":[0-9]*')" '"pushed":0' 'a push before the end'

# ---- to its end, beside those who read ----
while [ ! -e stop ]; do listed app | cmp -s rest.txt - || echo "$(cat err.txt)" >>differ.txt; done &
reader=$!
move 0 1 >moved.txt 2>err2.txt || fail "move: $(cat err2.txt)"
touch stop
wait $reader
[ ! -e differ.txt ] || fail "a reader beside the move: $(head -3 differ.txt)"
expect_equal "$(on 0 "SELECT count(*) FROM clear.run_names JOIN clear.projects USING (project) WHERE name = 'app'")" 0 'runs that stayed'
for table in functions locations mappings traces label_sets objects source_texts removed; do
    expect_equal "$(on 0 "SELECT count(*) FROM clear.$table JOIN clear.projects USING (project) WHERE projects.name = 'app'")" 0 "$table that stayed"
done
expect_equal "$(on 0 "SELECT count(*), sum(number) FROM clear.run_names JOIN clear.projects USING (project) WHERE name = 'stays'")" "$stays" 'the other project'
expect_equal "$(on 1 "SELECT count(*) FROM clear.tags WHERE run = '$tagged' AND key = 'moved'")" 1 'a tag from between'
"$CLEAR" store check --db "${url[1]}" >check.txt 2>&1 || fail "check: $(cat check.txt)"
expect_equal "$("$PLAIN_CLEAR" push --json --db all.db --to "${url[0]}" --project app | grep -o '"pushed":[0-9]*')" '"pushed":0' 'a push after the move'
"$PLAIN_CLEAR" rm --force "$gone" --db all.db >/dev/null || fail 'rm of a file'
sql all.db "INSERT INTO tags(run_id, key, value) SELECT id, 'moved', 'yes' FROM runs WHERE uuid = '$tagged'"

# ---- back, while runs come: the second store sends who asks it ----
(for db in a b; do "$PLAIN_CLEAR" push -q --db $db.db --to "${url[0]}" --project app 2>>pushes.txt; done) &
move 1 0 >moved.txt 2>err2.txt || fail "move back: $(cat err2.txt)"
wait
"$PLAIN_CLEAR" push -q --db all.db --to "${url[0]}" --project app 2>err.txt || fail "push: $(cat err.txt)"
expect_equal "$(listed app)" "$(cat rest.txt)" 'runs after the move back'
expect_equal "$(listed app 1)" "$(cat rest.txt)" 'runs by the other store'
expect_equal "$(on 0 'SELECT count(*) FROM clear.shards') $(on 1 'SELECT count(*) FROM clear.shards') $(on 1 'SELECT count(*) FROM clear.run_names')" '0 1 0' 'who sends whom'

# ---- some of them to another project ----
give() { "$CLEAR" store move --project app --db "${url[0]}" "$@"; }
give --as old --until "${first:0:4}-${first:4}" -n >trial.txt && give --as old --until "${first:0:4}-${first:4}" >moved.txt || fail 'a move of a month'
old=$(on 0 "SELECT count(*) FROM clear.runs WHERE month = to_date('$first', 'YYYYMM') AND project IN (SELECT project FROM clear.projects WHERE name IN ('app', 'old'))")
expect_match "$(cat trial.txt moved.txt | tr '\n' ' ')" "would move $old runs? .*moved $old runs? " 'a move of a month'
give --as sorts --program sort >moved.txt || fail 'a move of a program'
sorts=$(listed sorts | wc -l)
expect_equal "$sorts" "$(on 0 "SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'sorts' AND command ~ '^(/[^ ]*/)?sort '")" 'runs of a program'
expect_equal "$( (listed app; listed old; listed sorts) | sort)" "$(cat rest.txt)" 'runs of the three projects'
expect_equal "$("$PLAIN_CLEAR" push --json --db all.db --to "${url[0]}" --project app | grep -o '"pushed":[0-9]*')" '"pushed":0' 'a push after a split'
"$PLAIN_CLEAR" store check --db "${url[0]}" >check.txt 2>&1 || fail "check: $(cat check.txt)"
for project in app old sorts; do
    [ "$(listed $project | wc -l)" = 0 ] || "$PLAIN_CLEAR" pull -q all --from "${url[0]}" --project $project --db back.db 2>err.txt || fail "pull of $project: $(cat err.txt)"
done
check_db back.db
CLEAR=$PLAIN_CLEAR export_directories all.db before
CLEAR=$PLAIN_CLEAR export_directories back.db after
diff -r before after >diff.txt || fail "exports of the projects: $(head -20 diff.txt)"
"$PLAIN_CLEAR" store move --project old --as app --db "${url[0]}" >/dev/null && "$PLAIN_CLEAR" store move --project sorts --as app --db "${url[0]}" >/dev/null || fail 'a move back'
expect_equal "$(listed app)" "$(cat rest.txt)" 'runs that came back'
"$PLAIN_CLEAR" store gc --db "${url[0]}" >gc.txt 2>&1 || fail "gc: $(cat gc.txt)"
"$PLAIN_CLEAR" store check --db "${url[0]}" >check.txt 2>&1 || fail "check after gc: $(cat check.txt)"

# ---- a question that meets the end of a move: all runs, once ----
# As a move ends: the project is said to be there, and its runs are taken away here, while the question waits for their table.
for i in 0 1; do "$PLAIN_CLEAR" push -q last=3 --db c.db --to "${url[i]}" --project leaves 2>err.txt || fail "push: $(cat err.txt)"; done
leaving=3
count() { "$CLEAR" query --remote --db "${url[0]}" --project leaves --format csv 'SELECT count(*) FROM runs' 2>err.txt | tail -1 | tr -d '\r'; }
expect_equal "$(count)" "$leaving" 'runs before they leave'
PGHOST=${places[0]} psql -Xq -v ON_ERROR_STOP=1 >left.txt 2>&1 <<SQL &
BEGIN;
LOCK TABLE clear.runs IN ACCESS EXCLUSIVE MODE;
DO \$\$ BEGIN WHILE NOT EXISTS (SELECT FROM pg_locks WHERE NOT granted) LOOP PERFORM pg_sleep(0.02); END LOOP; END \$\$;
INSERT INTO clear.shards(project, address) SELECT project, '${url[1]}' FROM clear.projects WHERE name = 'leaves';
DELETE FROM clear.runs WHERE project = (SELECT project FROM clear.projects WHERE name = 'leaves');
COMMIT;
SQL
leaver=$!
wait_for 'a lock on runs' eval '[ "$(on 0 "SELECT count(*) FROM pg_locks WHERE granted AND relation = '"'clear.runs'::regclass"' AND mode = '"'AccessExclusiveLock'"'")" = 1 ]'
expect_equal "$(count)" "$leaving" "runs while they leave: $(cat err.txt)"
wait $leaver || fail "leaving: $(cat left.txt)"
expect_equal "$(count)" "$leaving" "runs that are there: $(cat err.txt)"
expect_equal "$(on 0 "SELECT count(*) FROM clear.runs JOIN clear.projects USING (project) WHERE name = 'leaves'")" 0 'runs that left'
exit 0
