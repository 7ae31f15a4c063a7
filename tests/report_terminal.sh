#!/usr/bin/env bash
# The prompt of clear report on a terminal: greeting, completion, history, ^C, ^D, signals.
# timeout: 300
. "$(dirname "$0")/lib.sh"
needs_terminals
profile -q --label first -o first.profile --cpu off "$FIXTURES/heap_counts" >/dev/null || fail "heap_counts"
# A function of the run with a beginning of its own.
functions=$(sql "$TMP/t.db" "SELECT DISTINCT function FROM frames WHERE function GLOB '[a-z]*' AND function NOT GLOB '*[^a-z_]*' ORDER BY function")
FUNCTION='' BEGINNING=''
for name in $functions; do
    part=${name:0:$((${#name} - 2))}
    if [ "${#part}" -gt 2 ] && [ "$(grep -c "^$part" <<<"$functions")" = 1 ]; then FUNCTION=$name BEGINNING=$part; fi
done
[ -n "$FUNCTION" ] || fail "no function with a beginning of its own: $functions"
export FUNCTION BEGINNING
python3 "$ROOT/tests/report_terminal.py" "$CLEAR" report --db "$TMP/t.db" || fail "the prompt"
