# `push:` in clear.yaml: each recorded run goes to the store. While that is away the runs wait, none is lost, and they arrive in order; the
# program's status stays, clear never waits longer than it was told, and a kill at any moment loses nothing.
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
postgres_start
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init
cat >clear.yaml <<Y
database: runs.sqlite
push: {to: $STORE, project: team, timeout: 60s}
Y
recorder=$CLEAR # with the sanitizers one that sends, one that notes, and one that sends what waits
profile() { "$recorder" profile -q --no-files --tag name="$1" -- sh -c "exit ${2:-0}" 2>err.txt; } # profile NAME [STATUS]
arrived() { pg "SELECT string_agg(value, ' ' ORDER BY pushed_at) FROM clear.tags JOIN clear.run_names USING (project, month, run) JOIN clear.projects USING (project) WHERE name = 'team' AND key = 'name'"; }
waiting() { if [ -e runs.sqlite.push ]; then wc -l <runs.sqlite.push; else echo 0; fi; }

# ---- the store is there ----
profile a 3
expect_equal $? 3 "the program's status"
expect_equal "$(arrived)" a 'a run that was recorded'
expect_equal "$(waiting)" 0 'runs that wait'
expect_equal "$(cat err.txt)" '' 'what --quiet prints'

# ---- it is away ----
postgres_stop fast
for name in b c d; do
    profile $name 3
    expect_equal $? 3 "the program's status without a store"
    expect_match "$(cat err.txt)" 'wait.* for the store.*clear push' 'a store that is away'
    recorder=$PLAIN_CLEAR
done
expect_equal "$(waiting)" 3 'runs that wait'
expect_equal "$(sql runs.sqlite 'SELECT count(*) FROM runs')" 4 'runs in the file'
"$CLEAR" gc --keep 0s --dry-run --json >gc.json || fail gc
expect_match "$(cat gc.json)" '"runs":\[1\]' 'what retention would delete: no run that waits'
expect_status 1 "$CLEAR" push 2>err.txt
# What a full disk or a kill cut from a line is passed over.
printf 'half a li' >>runs.sqlite.push
profile e 3
postgres_run
recorder=$CLEAR
profile f || fail "profile: $(cat err.txt)"
expect_equal "$(arrived)" 'a b c d e f' 'runs in order, once the store is back'
expect_equal "$(waiting)" 0 'runs that wait afterwards'

# ---- it hangs ----
recorder=$PLAIN_CLEAR
kill -STOP "$(head -1 "$PG/data/postmaster.pid")"
sed -i 's/60s/1s/' clear.yaml
profile g 3
expect_equal $? 3 "the program's status while the store hangs"
kill -CONT "$(head -1 "$PG/data/postmaster.pid")"
expect_match "$(cat err.txt)" 'needed more than 1.0 s.*1 run waits' 'a store that hangs'
sed -i 's/1s/60s/' clear.yaml
"$CLEAR" push >push.txt 2>&1 || fail "push: $(cat push.txt)"
expect_equal "$(arrived)" 'a b c d e f g' 'runs after clear push'

# ---- clear is killed ----
# While the program runs: clear recover stores the end, and then the run goes too.
"$PLAIN_CLEAR" profile -q --no-files --tag name=h -- sh -c ": >'$TMP/started'; while [ ! -e '$TMP/stop' ]; do sleep 0.1; done" 2>err.txt &
wait_for 'the program' test -e started
kill -KILL $!
wait $! 2>/dev/null
touch stop
has_ended() { "$PLAIN_CLEAR" recover --list --json | grep -q '"running":0'; }
wait_for 'the end of the program' has_ended
"$CLEAR" push --json >push.json 2>err.txt || fail "push: $(cat err.txt)"
expect_match "$(cat push.json)" '"lost":[12],' 'a run that clear recover has to store'
expect_equal "$(arrived)" 'a b c d e f g' 'no half run'
"$CLEAR" recover >recover.txt 2>&1 || fail "recover: $(cat recover.txt)"
expect_equal "$(arrived)" 'a b c d e f g h' 'a run that was recovered'
# While it sends: the server waits for a lock that we have.
mkfifo lock.in
psql -XqAt >lock.out <lock.in &
exec 8>lock.in
echo 'BEGIN; LOCK TABLE clear.runs; SELECT 1;' >&8
wait_for 'the lock' test -s lock.out
setsid "$PLAIN_CLEAR" profile -q --no-files --tag name=i -- sh -c ': ' 2>err.txt &
blocked() { [ "$(psql -XqAt -c "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'" 2>/dev/null)" -ge 1 ]; }
wait_for 'a push that waits' blocked
kill -KILL -- -$!
wait $! 2>/dev/null
echo 'ROLLBACK;' >&8
exec 8>&-
profile j || fail "profile: $(cat err.txt)"
expect_equal "$(arrived)" 'a b c d e f g h i j' 'runs after clear was killed while it sent'
expect_equal "$(waiting)" 0 'runs that wait at the end'

# ---- many at once, and a run that was deleted ----
postgres_stop fast
for i in 1 2 3 4; do ("$PLAIN_CLEAR" profile -q --no-files --tag name=k -- sh -c : 2>/dev/null) & done
wait
expect_equal "$(waiting)" 4 'runs of four recorders that wait'
"$CLEAR" rm -f latest >/dev/null 2>&1 || "$CLEAR" rm latest >/dev/null 2>err.txt || fail "rm: $(cat err.txt)"
postgres_run
for i in 1 2 3; do "$PLAIN_CLEAR" push -q 2>push.$i & done
wait
[ ! -s push.1 ] && [ ! -s push.2 ] && [ ! -s push.3 ] || fail "three that push at once: $(cat push.[123])"
expect_equal "$(arrived)" 'a b c d e f g h i j k k k' 'runs of four recorders but for one that was deleted'
expect_equal "$(waiting)" 0 'runs that wait at the end'

# ---- what is wrong in clear.yaml is said before the program runs ----
for push in 'postgresql://me:s3cret@host/db' 'postgresql:///db?password=s3cret' 'http://host/' '{project: x}' '{to: "postgresql:///a\tb"}'; do
    printf 'push: %s\n' "$push" >wrong.yaml
    "$CLEAR" profile -q --config wrong.yaml --no-files -- touch ran 2>err.txt && fail "push: $push"
    [ ! -e ran ] || fail "the program ran with push: $push"
    ! grep -q s3cret err.txt || fail "a password is shown: $(cat err.txt)"
done
exit 0
