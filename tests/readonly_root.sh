# A server whose root is read-only, as containers have it: nothing can be written but the directory of the warehouse and shared memory. What
# SQLite writes to temporary files goes beside the warehouse, and into memory where that cannot be written to either.
. "$(dirname "$0")/lib.sh"

kind=(--mount)
[ "$(id -u)" = 0 ] || kind=(--user --map-root-user --mount)
unshare "${kind[@]}" true 2>/dev/null || skip 'this machine allows no mount name space of our own'

# All places that SQLite knows are read-only here, the working directory too; ./data is a file system of its own.
mkdir data
cat >inside.sh <<'END'
mount -t tmpfs none "$TMP/data" || exit 99
for place in / /tmp /var/tmp /usr/tmp "$TMP"; do
    [ ! -d "$place" ] || mount -o remount,ro,bind "$(findmnt -n -o TARGET -T "$place")" || exit 99
done
cd /var/tmp && ! touch written 2>/dev/null && [ -w "$TMP/data" ] || exit 99
unset TMPDIR SQLITE_TMPDIR
set -e
data=$TMP/data
"$CLEAR" profile --db "$data/t.db" -o "$data/t.profile" -- "$FIXTURES/many_stacks" 20000
"$CLEAR" export --db "$data/t.db" --kind heap -o "$data/heap.pb.gz"
cat "$data/t.db" >&3
"$CLEAR" top "$data/heap.pb.gz" >&4
mount -t tmpfs -o ro none /dev/shm
if "$CLEAR" profile --db "$data/none.db" -- touch "$data/ran" 2>&6; then exit 4; fi
[ ! -e "$data/ran" ]
TMPDIR=$data "$CLEAR" profile --db "$data/none.db" -o "$data/none.profile" -- true 2>&7
mount -o remount,ro "$data"
"$CLEAR" query --db "$data/t.db" --format csv "
    WITH RECURSIVE counted(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted LIMIT 100002)
    SELECT count(*), max(text) LIKE '%100002' AS is_last FROM (SELECT DISTINCT printf('%0200d', 7919 * n % 100003) AS text FROM counted)" >&5
END
unshare "${kind[@]}" bash inside.sh 3>t.db 4>top.txt 5>sorted.csv 6>refused.txt 7>told.txt >out.txt 2>err.txt && status=0 || status=$?
[ $status != 99 ] || skip 'no mount can be made read-only here'
expect_equal "$status" 0 "status: $(cat err.txt)"
grep '^heap' out.txt >heap.txt
expect_tables heap.txt
expect_exact
expect_equal "$(sql t.db 'SELECT count(*) FROM seals JOIN runs ON runs.id = run_id')" 1 'sealed runs'
! grep -q 'not stored\|error' err.txt || fail "messages: $(cat err.txt)"
expect_match "$(cat top.txt)" ' main$' 'top of a profile, which is in a warehouse without a name'
expect_equal "$(tail -n 1 sorted.csv | tr -d '\r')" '100002,1' 'distinct texts of 20 MB'
# Without shared memory either clear says what it needs, before the program starts.
expect_match "$(cat refused.txt)" '^clear: cannot make a directory for the recording .*: set TMPDIR to one' 'what clear says without /dev/shm'
expect_match "$(cat told.txt)" '^clear: run 1 in .*exit status 0' 'what it says with TMPDIR set'
