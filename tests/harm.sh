# Programs that a recorder could harm, one for each cause, in each mode: output and status are those of the program alone.
# timeout: 180
# build: plain
. "$(dirname "$0")/lib.sh"

same_in_each_mode() { # same_in_each_mode COMMAND...
    local alone=0 under options
    (exec timeout 30 "$@" >alone.out 2>alone.err </dev/null) || alone=$?
    for options in '' --cpu=1000 --wall=1000 --trace=all --sync-callstacks --sample=64KiB --budget=0.1%; do
        under=0
        # shellcheck disable=SC2086 # none or one option
        (exec "$CLEAR" profile $options --db t.db -- timeout 30 "$@" >under.out 2>under.err </dev/null) || under=$?
        expect_equal "$under" "$alone" "status of $* with ${options:-no option}"
        expect_same_file under.out alone.out "stdout of $* with ${options:-no option}"
    done
}

# A robust mutex that is not recoverable: nobody waits for it.
same_in_each_mode "$FIXTURES/robust"
grep -q ENOTRECOVERABLE alone.out || fail 'robust proved nothing'

# What stands in mutexes of each kind, and what their calls return: the hooks take plain ones in place.
same_in_each_mode "$FIXTURES/mutex_kinds"
grep -q 'recursive: lock 0: lock 1, count 3, owner me' alone.out || fail 'mutex_kinds proved nothing'

# Children that give SIGPROF its default action where no hook sees it, before they call execve: no tick comes by then.
same_in_each_mode "$FIXTURES/raw_reset"
expect_match "$(cat alone.out)" '30 children, 0 ended by a signal' 'what raw_reset says alone'

# Signal stacks of 8 KiB hold one frame of the kernel, not two; and a program reads back the signal masks that it set.
same_in_each_mode "$FIXTURES/sigstacks"
grep -q 'filled: .* SIGPROF 1' alone.out || fail 'sigstacks proved nothing'

# A thread on a stack that ends earlier than the one before at that address: what is known of that one's walks is not read beyond its end.
same_in_each_mode "$FIXTURES/stack_again"

# The recorder leaves a program its address space, under a limit that stands or that it sets itself; and what it locks is little.
same_in_each_mode bash -c "ulimit -v 1000000; exec '$FIXTURES/limits' space"
same_in_each_mode "$FIXTURES/limits" own
grep -q yes alone.out || fail 'limits proved nothing'
same_in_each_mode "$FIXTURES/limits" mlockall

# A user may lock 8 MiB: the recorder's memory does not count, neither what there is nor what comes.
unprivileged=()
[ "$(id -u)" = 0 ] && unprivileged=(setpriv --bounding-set -ipc_lock)
for mode in current future both; do
    same_in_each_mode "${unprivileged[@]}" prlimit --memlock=$((8 << 20)) "$FIXTURES/limits" $mode
    grep -q "$mode: something is locked: yes" alone.out && [ ! -s alone.err ] || fail "limits $mode proved nothing: $(cat alone.err)"
    grep -q mlockall: under.err && fail "mlockall failed: $(cat under.err)"
done
# Less than the program alone has: it fails as without us.
same_in_each_mode "${unprivileged[@]}" prlimit --memlock=$((1 << 20)) "$FIXTURES/limits" current
grep -q 'mlockall: Cannot allocate memory' alone.err || fail 'a small limit proved nothing'

# A limit of the stack below what is used: hooks and the timer's signal need room that the program does not.
same_in_each_mode "$FIXTURES/limits" stack

# Threads that forbid themselves something at the same moment: the first one prepares the recorder for all, and those that wait for that go on.
expect_status 0 profile -q --no-files -- "$FIXTURES/seals_at_once" >out.txt
expect_equal "$(cat out.txt)" 100 'processes whose threads forbid themselves something at once'
