#!/bin/bash
# The mended fault programs are without fault of any other kind: valgrind finds no leak, no bad access and no wrong free.
# And it finds the leak of the one that leaks: what doctor says of both is true.
# timeout: 900
# plain: programs that valgrind runs
# long: every fault program under valgrind
. "$(dirname "$0")/lib.sh"
command -v valgrind >/dev/null || fail "valgrind is not there (make deps-test)"

memcheck() { # memcheck LOG PROGRAM ARGUMENTS...: 9 where it found something
    valgrind --quiet --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=9 --log-file="$1" "${@:2}" >out.txt
}

for source in "$ROOT"/fixtures/fault_*.c "$ROOT"/fixtures/fault_*.cc; do
    program=$(basename "${source%.*}")
    memcheck log "$FIXTURES/$program" --mended || fail "$program --mended: $(head -n 20 log)"
done
expect_status 9 memcheck log "$FIXTURES/fault_leak"
expect_match "$(cat log)" ' in 20,000 blocks are definitely lost' "the leak"
expect_match "$(cat log)" 'parse_order \(fault_leak.c:[0-9]*\)' "its place"
