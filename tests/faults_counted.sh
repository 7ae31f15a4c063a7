#!/bin/bash
# The pairs of tests/faults.list whose fault is counted, not timed: what is allocated, read, written and passed on. Each is the first finding
# before, and gone when the program is mended. What CPU samples say is not judged: on a busy machine there are enough of them for findings about the
# little CPU time that these programs take. tests/faults.sh (make long) has all pairs, and make truth each of them four times.
# build: plain
. "$(dirname "$0")/lib.sh"

pairs=$(awk -F'|' '!/^#/ && $2 ~ /(heap|io)\// && $2 !~ /heap\/growth/ {gsub(" ", "", $1); print $1}' "$ROOT/tests/faults.list")
# shellcheck disable=SC2086 # a name a word
python3 "$ROOT/tests/faults.py" t.db 1 --strict --counted $pairs >table.txt || fail "$(grep -v ' right |$' table.txt)"
expect_match "$(tail -n 1 table.txt)" '^([1-9][0-9]) of \1 pairs are right' 'the number of pairs'
check_db t.db
