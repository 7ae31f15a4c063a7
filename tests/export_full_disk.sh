# A full disk: exit 1, one line that says so, the old file as it was, nothing left behind.
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" | sqlite3 t.db || fail "no database"
mkdir disk
mount -t tmpfs -o size=64k,mode=0777 tmpfs disk 2>mount.err || skip "cannot mount a small tmpfs here: $(cat mount.err)"
trap 'umount disk' EXIT

"$CLEAR" export --db t.db first --kind heap -o disk/heap.pb.gz || fail "export while there is space"
cp disk/heap.pb.gz before.pb.gz
head -c 100000 /dev/zero >disk/filler 2>/dev/null
[ "$(stat -fc %f disk)" -eq 0 ] || fail "the disk is not full"

full() { # full ARGUMENTS...: an export that must fail for want of space
    expect_status 1 "$CLEAR" export --db t.db "$@" 2>err.txt
    expect_match "$(cat err.txt)" 'heap.pb.gz: No space left on device' "message"
    expect_equal "$(wc -l <err.txt)" 1 "lines of the message"
    expect_equal "$(ls -A disk | tr '\n' ' ')" "filler heap.pb.gz " "what is on the disk"
    expect_same_file disk/heap.pb.gz before.pb.gz "the old file"
}
full first --kind heap -o disk/heap.pb.gz

# The same when it fills up in the middle: a megabyte that does not compress, for which the first page still has room.
truncate -s -4096 disk/filler
full --sql "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
    SELECT hex(randomblob(16)) AS function, i AS n FROM n" -o disk/heap.pb.gz
