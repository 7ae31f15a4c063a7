# The server of a store that goes away in the middle of a push, also when the run is stored and that was not said: what was pushed waits in the spool,
# and is in the store exactly once after the next push. A pull whose answers were changed or cut ends with an error that names the server, and
# leaves nothing in the file.
# timeout: 300
# In the gate a third of the answers of a pull; all in make asan.
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
postgres_start
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init
"$PLAIN_CLEAR" ingest -q --db c.db "$ROOT"/fixtures/corpus/pprof/* >/dev/null 2>&1
"$PLAIN_CLEAR" push -q latest --db c.db --to $STORE --project p 2>err.txt || fail "push: $(cat err.txt)" # names, and a month
export STORE REAL=$PG
mkdir lies
through() { # through COMMAND...: for each line of input; lies.txt has what came
    rm -f lies/.s.*
    timeout 800 python3 "$ROOT/tests/lying_server.py" "$PWD/lies" "$PG" "$@" >lies.txt || fail "clear and a lying server: $(tail -1 lies.txt)"
}

# ---- a push ----
cat >push.sh <<'SH'
rm -f one.db*
cp c.db one.db
sqlite3 one.db "DELETE FROM runs WHERE id <> (SELECT max(id) FROM runs); UPDATE runs SET content_hash = NULL, uuid = lower(hex(randomblob(4))) || substr(uuid, 9)"
uuid=$(sqlite3 one.db 'SELECT uuid FROM runs')
"$CLEAR" push --to "$STORE" --project p --db one.db >/dev/null
status=$?
[ $status = 0 ] || grep -q "$uuid" one.db.push || { echo "status $status, and nothing waits" >&2; exit 9; }
export PGHOST=$REAL
"$PLAIN_CLEAR" push -q --to "$STORE" --project p --db one.db >&2 || exit 9
[ ! -s one.db.push ] || { echo 'it still waits' >&2; exit 9; }
[ "$(psql -XqAt -c "SELECT count(*), (SELECT count(*) FROM clear.run_names WHERE run = '$uuid') FROM clear.runs WHERE run = '$uuid'")" = '1|1' ] || { echo 'not once' >&2; exit 9; }
exit $status
SH
for how in 'before-commit 1' 'after-commit 1' 'copy 1' 'copy 3' 'copy 5' 'cut 6' 'cut 7' 'cut 8'; do echo "$how"; done | through bash push.sh
awk '$3 != 1' lies.txt >other.txt
[ ! -s other.txt ] || fail "a push that lost its server: $(cat other.txt)"
expect_equal "$(wc -l <lies.txt)" 8 'servers that went away'
expect_match "$(cat lies.txt)" 'after-commit 1 1 .*waits for the store, to be sent after the next recording or by clear push' 'what is said'
# A recording: its run was in the spool before it began. (By the optimized build: what sends is the code of the push above.)
cat >clear.yaml <<YAML
push:
  to: $STORE
  project: p
YAML
cat >record.sh <<'SH'
rm -f rec.db*
"$PLAIN_CLEAR" profile -q --db rec.db -- true || exit 9
uuid=$(sqlite3 rec.db 'SELECT uuid FROM runs')
grep -q "$uuid" rec.db.push || { echo 'nothing waits' >&2; exit 9; }
export PGHOST=$REAL
"$PLAIN_CLEAR" push -q --db rec.db >&2 || exit 9
[ "$(psql -XqAt -c "SELECT count(*) FROM clear.run_names WHERE run = '$uuid'")" = 1 ] && [ ! -s rec.db.push ]
SH
for how in 'before-commit 1' 'after-commit 1' 'copy 3'; do echo "$how"; done | through bash record.sh
awk '$3 != 0' lies.txt >other.txt
[ ! -s other.txt ] || fail "a recording whose store went away: $(cat other.txt)"
rm clear.yaml

# ---- a pull: of each answer in its turn; the first are of the session, the version and the list ----
cat >pull.sh <<'SH'
rm -f pulled.db*
"$CLEAR" pull -q latest --from "$STORE" --project p --db pulled.db 2>err.txt
status=$?
cat err.txt >&2
[ $status = 0 ] || [ ! -e pulled.db ] || [ "$(sqlite3 pulled.db 'SELECT count(*) FROM runs')" = 0 ] || { echo 'a run is there' >&2; exit 9; }
[ $status = 0 ] || [ -s err.txt ] || { echo 'nothing is said' >&2; exit 9; }
exit $status
SH
for how in fewer more error cut huge null lists; do for n in 5 6 7 8 10 12; do echo $how $n; done; done | a_third 6 0 >wishes.txt
through bash pull.sh <wishes.txt
awk '$3 > 2 || $3 < 0' lies.txt >other.txt
[ ! -s other.txt ] || fail "a pull of lies: $(cat other.txt)"
expect_equal "$(wc -l <lies.txt)" "$(wc -l <wishes.txt)" 'answers that were changed'
[ "$(wc -l <lies.txt)" -ge 14 ] || fail 'few answers were changed'
expect_equal "$(awk '$1 ~ /^(fewer|more|error|cut)$/ && $3 == 0' lies.txt)" '' 'answers that are none, and were taken'
exit 0
