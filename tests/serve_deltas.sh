# What a live run's paths tell of a stretch of its time, against a program that does what it is told and says what it did: deltas by
# ?seconds=N and by delta_*, of every kind, and all windows together.
# timeout: 480
. "$(dirname "$0")/lib.sh"

start() { # start NAME OPTIONS...: the program under a recorder that flushes only when somebody asks; sets $url
    local name=$1
    shift
    rm -f orders "$name.err" && mkfifo orders
    "$CLEAR" profile -q --db t.db --label "windows-$name" -o "$name.profile" --interval 1h --http 127.0.0.1:0 "$@" -- "$FIXTURES/steps" \
        <orders >"$name.out" 2>"$name.err" &
    pid=$!
    exec 3>orders
    wait_for_text '^clear: serving' "$name.err"
    url=$(sed -n 's/^clear: serving .* at \(http:.*\)$/\1/p' "$name.err")
    [ -n "$url" ] || fail "clear profile --http: $(cat "$name.err")"
    out=$name.out steps=0
}
step() { # step N: N events of each kind; returns once they have happened
    steps=$((steps + 1))
    echo "$1" >&3
    wait_for_text "^step $steps " "$out"
}
finish() {
    exec 3>&-
    wait "$pid" || fail "steps: $?"
}
# The columns of a line of the program's.
names='allocs bytes inuse_count inuse_bytes acquires contended wait_ns reads commits retries pushes pops push_blocked pop_blocked blocked_ns max_depth spawns runs exits'
said() { # said STEP NAME: what it came to by then
    awk -v step="$1" -v name="$2" -v names="$names" 'BEGIN { n = split(names, all, " "); for (i = 1; i <= n; i++) at[all[i]] = i + 2 }
        $1 == "step" && $2 == step { print $at[name]; found = 1 } END { if (!found) print 0 }' "$out"
}
since() { # since STEP NAME...: what it did after that step
    local step=$1 name line=
    shift
    for name in "$@"; do line+="$(($(said "$steps" "$name") - $(said "$step" "$name"))) "; done
    echo "${line% }"
}
sums() { # sums "FILE..." COLUMN...: of csv files, over the stacks and objects of the program; a row of zeros is an error
    python3 - "$@" <<'PYTHON'
import csv, sys
rows = [row for name in sys.argv[1].split() for row in csv.DictReader(open(name))]
if rows and "alloc_objects/count" in rows[0]:
    rows = [row for row in rows if "site_step" in row["stack"]]
for row in rows:
    if not any(int(value) for name, value in row.items() if "/" in name and not name.startswith("label:")):
        sys.exit(f"a row of zeros: {row}")
print(" ".join(str(sum(int(row[name]) for row in rows)) for name in sys.argv[2:]))
PYTHON
}
ask() { # ask FILE PATH?QUERY
    local code
    code=$(curl -sv -o "$1" -w '%{http_code}' "$url$2&format=csv" 2>"$1.log")
    expect_equal "$code" 200 "$2: $(head -c 300 "$1")"
}
near() { # near GOT WANT WHAT...: each time is kept in ticks of the processor's clock
    local got=$1 want=$2
    shift 2
    expect_between "$got" $((want - want / 1000 - 5)) $((want + want / 1000 + 5)) "$@"
}
blocks='alloc_objects/count alloc_space/bytes' inuse='inuse_objects/count inuse_space/bytes'

# shellcheck disable=SC2086 # words are meant
expect_since() { # expect_since STEP PREFIX WHAT: files PREFIX.KIND tell what happened after that step
    local step=$1 prefix=$2 what=$3
    expect_equal "$(sums "$prefix.heap" $blocks)" "$(since "$step" allocs bytes)" "$what: heap"
    expect_equal "$(sums "$prefix.heap" $inuse)" "$(said "$steps" inuse_count) $(said "$steps" inuse_bytes)" "$what: in use"
    expect_equal "$(sums "$prefix.mutex" contentions/count)" "$(since "$step" contended)" "$what: mutex"
    near "$(sums "$prefix.mutex" delay/nanoseconds)" "$(since "$step" wait_ns)" "$what: delay of mutex"
    expect_equal "$(sums "$prefix.block" contentions/count)" \
        "$(since "$step" contended push_blocked pop_blocked | awk '{ print $1 + $2 + $3 }')" "$what: block"
    near "$(sums "$prefix.block" delay/nanoseconds)" "$(since "$step" wait_ns blocked_ns | awk '{ print $1 + $2 }')" "$what: delay of block"
}
expect_rest_since() { # the same of the kinds that have no delta path
    local step=$1 prefix=$2 what=$3 risen=0
    expect_equal "$(sums "$prefix.lock" contentions/count acquisitions/count)" "$(since "$step" contended acquires)" "$what: lock"
    expect_equal "$(sums "$prefix.cells" reads/count commits/count retries/count)" "$(since "$step" reads commits retries)" "$what: cells"
    expect_equal "$(sums "$prefix.channels" pushes/count pops/count push_blocked/count pop_blocked/count)" \
        "$(since "$step" pushes pops push_blocked pop_blocked)" "$what: channels"
    [ "$(since "$step" max_depth)" = 0 ] || risen=$(said "$steps" max_depth)
    expect_equal "$(sums "$prefix.channels" max_depth/count)" "$risen" "$what: the deepest, where it rose"
    expect_equal "$(sums "$prefix.fibers" spawns/count runs/count exits/count)" "$(since "$step" spawns runs exits)" "$what: fibers"
}

# step_inside N: a step in the middle of the seconds that are asked for; sets $asked, the step before, and $seconds. If the step took
# longer than that on a busy machine, once more with more seconds.
step_inside() {
    local kind one waiting began
    for seconds in 3 9 27; do
        asked=$steps waiting=() began=$SECONDS
        for kind in heap mutex block lock cells channels fibers; do
            rm -f "seconds.$kind.log"
            ask "seconds.$kind" "$kind?seconds=$seconds" &
            waiting+=($!)
        done
        for kind in heap mutex block lock cells channels fibers; do wait_for_text '^> GET' "seconds.$kind.log"; done
        sleep $((seconds / 3)) # they are all waiting by now
        step "$1"
        began=$((SECONDS - began))
        for one in "${waiting[@]}"; do wait "$one" || fail "?seconds=$seconds"; done
        [ "$began" -ge $((seconds - 1)) ] || return 0
    done
}

# Once with windows that stay apart, once with all of them folded into one at each flush.
for limit in all 1; do
    start "$limit" --windows "$limit"

    # delta_*: since the last time, whatever lies between.
    last=0
    for round in '7' '40' '3 12' '1 1 1'; do
        for n in $round; do step "$n"; done
        for kind in heap mutex block; do ask "delta.$kind" "delta_$kind?"; done
        expect_since "$last" delta "--windows $limit, $round after step $last"
        last=$steps
    done
    for kind in mutex block; do
        ask nothing "delta_$kind?"
        expect_equal "$(wc -l <nothing)" 1 "lines of delta_$kind when nothing happened"
    done
    ask nothing 'delta_heap?'
    # shellcheck disable=SC2086 # words are meant
    expect_equal "$(sums nothing $blocks $inuse)" "0 0 $(said "$steps" inuse_count) $(said "$steps" inuse_bytes)" 'heap when nothing happened'

    # ?seconds=N: in them, and neither before nor after. Twice, with a maximum that rises and one that does not.
    for n in 60 20; do
        step_inside "$n"
        expect_since "$asked" seconds "--windows $limit, ?seconds=$seconds around $n"
        expect_rest_since "$asked" seconds "--windows $limit, ?seconds=$seconds around $n"
    done

    # The whole so far, and at the end; and by windows, each of which is told once.
    finish
    while read -r kind columns; do
        "$CLEAR" export --db t.db "windows-$limit" --kind "$kind" --format csv -o whole.csv || fail "export $kind"
        count=$(sql t.db "SELECT max(number) FROM windows JOIN runs ON runs.id = run_id WHERE label = 'windows-$limit' AND kind = '$kind'")
        [ "$limit" = all ] || expect_equal "$count" 1 "windows of kind $kind"
        files=
        for number in $(seq "$count"); do
            "$PLAIN_CLEAR" export --db t.db "windows-$limit" --kind "$kind" --format csv --window "$number" -o "window.$number" 2>/dev/null ||
                fail "window $number of $kind"
            files+=" window.$number"
        done
        # shellcheck disable=SC2086 # words are meant
        expect_equal "$(sums "$files" $columns)" "$(sums whole.csv $columns)" "$kind: all windows together, --windows $limit"
        want=
        case $kind in
        heap) want='allocs bytes' ;;
        lock) want='contended acquires' ;;
        mvcc) want='reads commits retries' ;;
        channels) want='pushes pops push_blocked pop_blocked' ;;
        fibers) want='spawns runs exits' ;;
        esac
        # shellcheck disable=SC2086 # words are meant
        expect_equal "$(sums whole.csv $columns)" "$(since 0 $want)" "$kind of the whole run, --windows $limit"
    done <<'END'
heap alloc_objects/count alloc_space/bytes
lock contentions/count acquisitions/count
mvcc reads/count commits/count retries/count
channels pushes/count pops/count push_blocked/count pop_blocked/count
fibers spawns/count runs/count exits/count
END
done
check_db t.db
