# gdb, strace and memcheck still work on a program that is being recorded.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

# gdb starts it under clear profile, stops in it and walks out of a hook's caller.
printf '%s\n' 'set debuginfod enabled off' 'break site_leaked' 'run' 'bt' 'delete' 'continue' >script.gdb
site=$(sed -n 's/^SITE .*\(site_[a-z_]*\|[a-z_]*leak[a-z_]*\)(.*/\1/p' "$ROOT/fixtures/leak.c" | head -n 1)
[ -n "$site" ] || fail 'no site in leak.c'
sed -i "s/site_leaked/$site/" script.gdb
expect_status 0 profile -q -o gdb.profile -- gdb -nx -batch -x script.gdb "$FIXTURES/leak" >gdb.txt 2>&1 </dev/null
if grep -Eq 'ptrace: Operation not permitted|Cannot trace' gdb.txt; then skip 'this machine does not let gdb trace a process'; fi
grep -Eq "^Breakpoint 1, .*$site" gdb.txt && grep -q '#.* main ' gdb.txt && grep -q 'exited normally\|exited with code' gdb.txt || fail "gdb: $(cat gdb.txt)"
got=$(sql t.db "SELECT count(*) FROM heap WHERE function = '$site'")
[ "$got" -gt 0 ] || fail "what ran under gdb was not recorded"

expect_status 0 profile -q -o strace.profile -- strace -f -o trace.txt "$FIXTURES/heap_counts" >out.txt
expect_tables out.txt

# memcheck replaces malloc below the hooks: the program runs, and valgrind finds no error in it nor in the runtime.
valgrind --leak-check=no "$FIXTURES/leak" >alone.txt 2>alone.err || fail "valgrind alone: $(cat alone.err)"
expect_status 0 profile -q -o memcheck.profile -- valgrind --trace-children=yes --leak-check=no --error-exitcode=99 "$FIXTURES/leak" >under.txt 2>under.err
expect_same_file under.txt alone.txt 'stdout under memcheck'
grep -q 'ERROR SUMMARY: 0 errors' under.err || fail "memcheck: $(cat under.err)"
check_db t.db
