# shellcheck shell=bash disable=SC2030,SC2031,SC2015
# warehouses.sh: files with runs of every kind, and their exports: for tests of what copies runs.

record() { # record DB OPTIONS... -- COMMAND...
    local db=$1
    shift
    "$CLEAR" profile -q --db "$db" "$@" >/dev/null 2>err.txt || fail "recording $*: $(cat err.txt)"
}

make_warehouses() { # a.db, b.db: recorded; c.db: read from files; d.db: written by hand. A run of the suite makes them once, with the
    # build that sees most, and each test has copies.
    [ -n "${SUITE:-}" ] || { make_new_warehouses; return; }
    (
        CLEAR=${SANITIZED_CLEAR:-$CLEAR}
        flock 9 && [ ! -d "$SUITE/warehouses" ] || exit 0
        rm -rf "$SUITE/new" && mkdir "$SUITE/new" && cd "$SUITE/new" && make_new_warehouses && mv "$SUITE/new" "$SUITE/warehouses"
    ) 9>"$SUITE/warehouses.lock" || exit 1
    cp "$SUITE"/warehouses/?.db . || fail 'no copies of the warehouses'
}

make_new_warehouses() {
    record a.db --leaks --lifetimes -- sort /etc/passwd
    record a.db --label nightly --tag branch=main -- sh -c 'ls / | sort | head -2'
    record a.db -- "$FIXTURES/mvcc" 2 2000
    record a.db -- "$FIXTURES/maps"
    record b.db -- sh -c 'head -2 /etc/passwd | sort; ls /'
    record b.db --sync-callstacks -- "$FIXTURES/wait_counts"
    record b.db -- "$FIXTURES/spins"
    record a.db --trace -- "$FIXTURES/wait_counts"
    record b.db -- "$FIXTURES/mvcc" 2 2000
    record b.db --interval 30ms -- "$FIXTURES/channels"
    record b.db --lifetimes -- python3 -c 'import json; print(len(json.dumps(list(range(20000)))))'
    "$CLEAR" ingest -q --db c.db "$ROOT"/fixtures/corpus/pprof/* >/dev/null 2>&1
    find "$ROOT/fixtures" -maxdepth 3 -name '*.profile' -type d -exec "$CLEAR" ingest -q --db c.db {} + >/dev/null 2>&1
    python3 "$ROOT/fixtures/make_c2c.py" "$FIXTURES/shared_lines" c2c.data >/dev/null && "$CLEAR" ingest -q --db c.db c2c.data || fail 'c2c.data'
    cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" | sqlite3 d.db || fail 'd.db'
    "$CLEAR" runs --db d.db >/dev/null || fail 'd.db'
    local db
    for db in a b c d; do [ "$(sql $db.db 'SELECT count(*) FROM runs')" -ge 2 ] || fail "few runs in $db.db"; done
}

exports() { # exports DB DIR: a file for each run, by its uuid, and kind; and the directory of text files
    mkdir -p "$2"
    sql "$1" 'SELECT DISTINCT runs.id, uuid, kind FROM runs JOIN profiles ON run_id = runs.id ORDER BY 1, 3' | while IFS='|' read -r run uuid kind; do
        "$CLEAR" export --db "$1" "$run" --kind "$kind" -o "$2/$uuid.${kind//\//_}.pb.gz" >/dev/null 2>"$2/said" || sed 's/run [0-9]*//; s/^clear: [^:]*//' "$2/said" >"$2/$uuid.${kind//\//_}.refused"
        [ -d "$2/$uuid" ] || "$CLEAR" export --db "$1" "$run" -o "$2/$uuid/" >/dev/null 2>&1 || rm -rf "${2:?}/$uuid"
    done
    rm -f "$2/said"
}

export_directories() { # export_directories DB DIR: of exports, the directories alone: they have the file of each kind that has rows too, by a quarter of the processes
    mkdir -p "$2"
    sql "$1" 'SELECT uuid FROM runs ORDER BY id' | while read -r uuid; do
        "$CLEAR" export --db "$1" "$uuid" -o "$2/$uuid/" >/dev/null 2>&1 || rm -rf "${2:?}/$uuid"
    done
}
