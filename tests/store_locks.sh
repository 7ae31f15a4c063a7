# Who stops in the middle of a transaction of a store stops nobody else: clear store gc gives way and says to whom, pushes go on beside it; a push
# that waits in vain leaves its runs in the spool; clear store upgrade does not make all others wait.
# timeout: 400
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
postgres_start
ingest_corpus
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project first || fail push
# Old runs of one command, so that a month is dropped.
cp c.db old.db
sql old.db "UPDATE runs SET command = 'old', content_hash = NULL, label = NULL, uuid = lower(hex(randomblob(4))) || substr(uuid, 9),
    started_ns = CAST(strftime('%s', 'now', '-1 year') AS INTEGER) * 1000000000 + id; DELETE FROM pins"
"$PLAIN_CLEAR" push -q --db old.db --to $STORE --project old || fail push
sql old.db "UPDATE runs SET started_ns = started_ns + 300 * 86400000000000, uuid = lower(hex(randomblob(4))) || substr(uuid, 9)"
"$PLAIN_CLEAR" push -q 1 --db old.db --to $STORE --project old || fail push

hold() { # hold SQL: in a transaction that stays open until release
    rm -f hold.in
    mkfifo hold.in
    psql -XqAt -v ON_ERROR_STOP=1 <hold.in >hold.out 2>&1 &
    holder=$!
    exec 7>hold.in
    printf 'BEGIN;\n%s;\n\\echo held\n' "$1" >&7
    wait_for_text held hold.out
}
release() {
    exec 7>&-
    wait $holder
}

# ---- a pusher that stopped, and gc ----
hold "SELECT pg_advisory_xact_lock_shared(4998189, 2); LOCK TABLE clear.runs, clear.tags IN ROW EXCLUSIVE MODE"
"$CLEAR" store gc --keep 200d --db $STORE >gc.txt 2>gc.err &
collector=$!
sleep 2
kill -0 $collector || fail "gc ended: $(cat gc.txt gc.err)"
for project in a b c; do "$PLAIN_CLEAR" push -q --db c.db --to $STORE --project $project 2>err.txt || fail "push beside a gc that waits: $(cat err.txt)"; done
kill -0 $collector || fail "gc ended before the pushes: $(cat gc.txt gc.err)"
wait $collector && fail "gc beside a stopped pusher: $(cat gc.txt)"
expect_match "$(cat gc.err)" 'gave way: a transaction of others under way, the oldest of clear since .*pg_terminate_backend' 'whom gc gave way to'
before=$(pg 'SELECT count(*) FROM clear.runs')
release
"$CLEAR" store gc --keep 200d --json --db $STORE >gc.txt 2>gc.err || fail "gc: $(cat gc.err)"
expect_equal "$(pg 'SELECT count(*) FROM clear.runs')" $((before - runs)) 'runs after gc'
expect_match "$(cat gc.txt)" "\"runs\":$runs,.*\"done\":true" 'what gc says'

# ---- a push that waits in vain ----
hold 'SELECT pg_advisory_xact_lock(4998189, 2)'
PGOPTIONS='-c lock_timeout=1s' expect_status 1 "$CLEAR" push last=2 --db c.db --to $STORE --project late 2>err.txt
expect_match "$(cat err.txt)" '2 runs wait for the store' 'a push that waits in vain'
expect_equal "$(wc -l <c.db.push)" 2 'runs in the spool'
PGOPTIONS='-c lock_timeout=1s' expect_status 1 "$CLEAR" push last=2 --db c.db --to $STORE --project late 2>err.txt
expect_equal "$(wc -l <c.db.push)" 2 'runs in the spool after another try'
release
"$CLEAR" push --db c.db >push.txt 2>&1 || fail "push of what waits: $(cat push.txt)"
expect_match "$(cat push.txt)" '2 runs pushed' 'what waited'
[ ! -e c.db.push ] || fail 'the spool is not empty'

# ---- an upgrade ----
hold 'LOCK TABLE clear.runs IN ROW EXCLUSIVE MODE'
pg "UPDATE clear.meta SET value = 'another' WHERE key = 'views_hash'"
expect_status 1 "$CLEAR" store upgrade --db $STORE 2>err.txt
expect_match "$(cat err.txt)" 'gave way' 'an upgrade beside a stopped pusher'
release
"$CLEAR" store upgrade --db $STORE >/dev/null 2>err.txt || fail "upgrade: $(cat err.txt)"
exit 0
