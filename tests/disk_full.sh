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

# The warehouse is on the full disk. The rows of 8,192 stacks do not fit in it.
"$FIXTURES/closes_fds" >want.txt
inside 600k '
    "$CLEAR" profile --db small/t.db --interval 0.05 -o "$TMP/t.profile" -- "$FIXTURES/closes_fds" >out.txt 2>err.txt && status=0 || status=$?
    echo "$status" >status.txt
    if [ -e small/t.db ]; then cp small/t.db* .; fi' || fail "could not run in a name space: $?"
expect_same_file out.txt want.txt 'the program'
expect_equal "$(cat status.txt)" 1 'status with the disk full'
expect_match "$(cat err.txt)" '^clear: .*(full|space)' 'message'
# Once while it runs, however many flushes fail, and once at the end.
expect_between "$(wc -l <err.txt)" 1 2 "lines on stderr: $(cat err.txt)"
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

# The recorder's own memory is on the full disk: the program is not harmed, and what is missing is said.
kind=(--mount)
[ "$(id -u)" = 0 ] || kind=(--user --map-root-user --mount)
rm -f out.txt t.db*
unshare "${kind[@]}" bash -euc '
    mount -t tmpfs -o size=256k none /dev/shm
    mkdir -p small && mount -t tmpfs -o size=256k none small
    TMPDIR=$PWD/small "$CLEAR" profile --db t.db -o "$TMP/t.profile" -- "$FIXTURES/closes_fds" >out.txt 2>err.txt && status=0 || status=$?
    echo "$status" >status.txt' || fail "could not run in a name space: $?"
expect_same_file out.txt want.txt 'the program without room for records'
if [ -e t.db ] && [ "$(cat status.txt)" = 0 ]; then
    lost=$(sql t.db 'SELECT coalesce(sum(dropped), 0) FROM profiles')
    kept=$(sql t.db "SELECT coalesce(sum(alloc_count), 0) FROM heap WHERE function = 'after_close'")
    [ "$lost" -gt 0 ] || fail 'nothing was dropped, or nobody said so'
    [ "$kept" -lt 100000 ] || fail 'everything was recorded in 256 KiB?'
    expect_equal "$(sql t.db "SELECT code FROM doctor WHERE section = 'saturation' AND code = 'dropped'")" dropped 'what doctor says first'
else
    expect_match "$(cat err.txt)" '^clear: .*(full|space)' 'message'
fi
