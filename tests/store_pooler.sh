# A store through PgBouncer: pushes and readers at once in both ways of pooling; what needs a session of its own says so where it has none, and
# works where it has.
# timeout: 240
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
PATH=$PATH:/usr/sbin
command -v pgbouncer >/dev/null || fail 'pgbouncer is not installed'
postgres_start
"$PLAIN_CLEAR" store init --db $STORE >/dev/null || fail init
ingest_corpus
pooler() { # pooler PORT MODE [LINE]: with two sessions for all
    printf '[databases]\nprofiles = host=%s dbname=profiles\n[pgbouncer]\nunix_socket_dir = %s\nlisten_addr =\nlisten_port = %s\nauth_type = trust\nauth_file = %s/users\npool_mode = %s\ndefault_pool_size = 2\n%s\n' \
        "$PG" "$PG" "$1" "$PG" "$2" "${3:-}" >"$PG/$1.ini"
    echo '"clear" ""' >"$PG/users"
    postgres_as pgbouncer -q "$PG/$1.ini" >"pooler$1.txt" 2>&1 &
    wait_for "PgBouncer on $1" test -S "$PG/.s.PGSQL.$1"
}
trap 'pkill -f "^pgbouncer -q $PG/"; postgres_stop; rm -rf "$PG"' EXIT # runuser, whose pid is known, does not pass the signal on
pooler 6001 transaction 'server_reset_query_always = 1' # no transaction has the temporary tables of another
pooler 6002 session
# With the sanitizers one of four, and what asks by the first; the pooler is the subject, and what clear does is the same each time.
asking=$CLEAR
for port in 6001 6002; do
    via="postgresql:///profiles?host=$PG&port=$port"
    pids=() one=$asking
    for i in 1 2 3 4; do
        "$one" push -q --db c.db --to "$via" --project "p$port.$i" 2>push.$i &
        pids+=($!)
        one=$PLAIN_CLEAR
    done
    one=$asking
    for i in 1 2 3 4; do wait "${pids[i - 1]}" || fail "push $i by $port: $(cat push.$i)"; done
    for i in 1 2 3 4; do
        rm -f back.db
        "$one" pull -q all --from "$via" --project "p$port.$i" --db back.db 2>err.txt || fail "pull by $port: $(cat err.txt)"
        expect_equal "$(sql back.db 'SELECT count(*), count(DISTINCT uuid) FROM runs')" "$runs|$runs" "runs by $port"
        one=$PLAIN_CLEAR
    done
    expect_equal "$("$asking" query --remote --db "$via" --project "p$port.1" --format csv 'SELECT count(*) FROM runs' | tail -1 | tr -d '\r')" "$runs" "a query by $port"
    "$asking" doctor --db "$via" --project "p$port.1" >/dev/null 2>err.txt || fail "doctor by $port: $(cat err.txt)"
    "$asking" runs --db "$via" --project "p$port.1" >/dev/null 2>err.txt || fail "runs by $port: $(cat err.txt)"
    "$asking" rm latest --force --db "$via" --project "p$port.1" >/dev/null 2>err.txt || fail "rm by $port: $(cat err.txt)"
    "$asking" store check --db "$via" >/dev/null 2>err.txt || fail "check by $port: $(cat err.txt)"
    asking=$PLAIN_CLEAR
done
expect_status 1 "$CLEAR" store gc --db "postgresql:///profiles?host=$PG&port=6001" 2>err.txt
expect_match "$(cat err.txt)" 'not a pooler of transactions' 'gc by a pooler of transactions'
for i in 1 2; do "$PLAIN_CLEAR" store gc --db "postgresql:///profiles?host=$PG&port=6002" >/dev/null 2>err.txt || fail "gc by a pooler of sessions: $(cat err.txt)"; done
# A move takes no lock that outlives a transaction, for a pooler would keep it.
pg 'CREATE DATABASE other' && "$PLAIN_CLEAR" store init --db postgresql:///other >/dev/null || fail 'another store'
"$CLEAR" store move --project p6001.2 --at "postgresql:///other?host=$PG" --db "postgresql:///profiles?host=$PG&port=6001" >/dev/null 2>err.txt || fail "move by a pooler: $(cat err.txt)"
expect_equal "$(pg "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")" 0 'locks after a move'
"$PLAIN_CLEAR" push -q --db c.db --to "postgresql:///profiles?host=$PG&port=6001" --project p6001.2 2>err.txt || fail "push after a move: $(cat err.txt)"
exit 0
