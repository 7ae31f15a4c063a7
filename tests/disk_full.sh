# A full disk: one clear line, a valid file with what fitted, and a program that never noticed. In name spaces of our own, so that
# neither root's file systems nor other tests see the small ones.
. "$(dirname "$0")/lib.sh"

unshare --user --map-root-user --mount true 2>/dev/null || unshare --mount true 2>/dev/null || skip 'this machine allows no mount name space of our own'
inside() { # inside SIZE SCRIPT: with ./small as a file system of its own
    local kind=(--mount)
    [ "$(id -u)" = 0 ] || kind=(--user --map-root-user --mount)
    mkdir -p small
    unshare "${kind[@]}" bash -euc "mount -t tmpfs -o size=$1 none small; $2"
}

# The warehouse is on the full disk. The rows of 8,192 stacks do not fit in it, and the recording neither: it stays in shared memory, and
# clear recover stores it in another warehouse, whole.
"$FIXTURES/closes_fds" >want.txt
inside 1360k '
    "$CLEAR" profile --db small/t.db --interval 0.05 -o "$TMP/t.profile" -- "$FIXTURES/closes_fds" >out.txt 2>err.txt && status=0 || status=$?
    echo "$status" >status.txt
    "$CLEAR" recover --db whole.db "$(sed -n "s/.*stores it: clear recover //p" err.txt)" >recovered.txt
    if [ -e small/t.db ]; then cp small/t.db* .; fi' || fail "could not run in a name space: $?"
expect_same_file out.txt want.txt 'the program'
expect_equal "$(cat status.txt)" 0 'status with the disk full: that of the program'
expect_match "$(cat err.txt)" '^clear: .*(full|space)' 'message'
# Once while it runs, however many flushes fail, and at the end why and where it is.
expect_between "$(grep -vc "was killed" err.txt)" 2 3 "lines on stderr: $(cat err.txt)"
check_db whole.db
expect_equal "$(sql whole.db 'SELECT sum(alloc_count) FROM heap')" 100001 'recovered: 100,000 of the program and the buffer of its printf'
expect_equal "$(sql whole.db 'SELECT exit_status, flags FROM runs')" '0|' 'the recovered run'
if [ -e t.db ]; then
    rm -f t.db-shm
    check_db t.db
fi

# Too full to begin with: refused before the program runs, and what stays is a file that the next run can use.
inside 100k '
    "$CLEAR" profile --db small/t.db -- touch ran 2>err.txt && status=0 || status=$?
    if [ -e small/t.db ]; then cp small/t.db left.db; fi
    echo "$status" >status.txt' || fail "could not run in a name space: $?"
expect_equal "$(cat status.txt)" 1 'status with no room for a warehouse'
expect_match "$(cat err.txt)" '^clear: .*(full|space)' 'message'
[ ! -e ran ] || fail 'the program ran'
expect_status 0 "$CLEAR" profile --db left.db -o "$TMP/t.profile" -- true
check_db left.db

# The recorder's own memory fills up while the program runs (/dev/shm is chosen where 128 MiB are free, so 130 MiB are made and
# filled by the program): the program is not harmed, and every allocation is either recorded or counted as dropped.
without_room() { # without_room BYTES-LEFT
    local kind=(--mount)
    [ "$(id -u)" = 0 ] || kind=(--user --map-root-user --mount)
    rm -f t.db* out.txt err.txt
    unshare "${kind[@]}" bash -euc '
        mount -t tmpfs -o size=130m none /dev/shm
        "$CLEAR" profile --db t.db -o "$TMP/t.profile" -- \
            sh -c "head -c $((130 * 1048576 - $1)) /dev/zero 2>/dev/null >/dev/shm/fill; exec \"$FIXTURES/closes_fds\"" >out.txt 2>err.txt' inside "$1" ||
        fail "status $? with $1 bytes left for the recorder: $(cat err.txt)"
    expect_same_file out.txt want.txt "the program with $1 bytes left for the recorder"
    check_db t.db
}
without_room 1600000
kept=$(sql t.db "SELECT sum(alloc_count) FROM heap JOIN profiles ON profiles.id = profile_id JOIN processes ON processes.id = process_id
    WHERE executable GLOB '*/closes_fds'")
lost=$(sql t.db "SELECT sum(dropped) FROM profiles JOIN processes ON processes.id = process_id WHERE executable GLOB '*/closes_fds' AND kind = 'heap'")
expect_between "$lost" 1000 99000 'dropped'
expect_equal $((kept + lost)) 100001 'recorded and dropped: 100,000 of the program and the buffer of its printf'
expect_equal "$(sql t.db "SELECT code FROM doctor LIMIT 1")" dropped 'what doctor says first'
expect_match "$(cat err.txt)" '^clear: warning: .* events could not be recorded' 'message'
without_room 0
expect_match "$(cat err.txt)" '^clear: warning: .* could not be recorded' 'message'
