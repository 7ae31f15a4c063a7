# However a program ends, what it did until then is in the warehouse, exactly, with how it ended.
# quick
. "$(dirname "$0")/lib.sh"

ends() { # ends MODE STATUS EXIT-STATUS EXIT-SIGNAL: status as the shell sees it, and the two columns of runs
    local mode=$1 status=$2 want=$3
    expect_status "$status" profile -o "$TMP/t.profile" -- "$FIXTURES/exits" "$mode" >out.txt
    expect_tables out.txt
    expect_exact
    expect_equal "$(sql t.db 'SELECT exit_status, exit_signal, flags FROM runs ORDER BY id DESC LIMIT 1')" "$want|" "how $mode ended"
}
ends return 11 '11|'
ends exit 12 '12|'
ends _exit 13 '13|'
ends thread 14 '14|'
ends abort 134 '|6'
ends segv 139 '|11'
ends overflow 139 '|11'
ends kill 137 '|9'
ends term 143 '|15'
check_db t.db

# A signal to clear goes on to the program, which ends as it would have.
for name in TERM HUP; do
    rm -f out.txt # what an earlier one printed would be waited for
    "$CLEAR" profile --db t.db -- "$FIXTURES/exits" wait >out.txt &
    pid=$!
    wait_for_text before_end out.txt
    kill -"$name" "$pid"
    wait "$pid"
    status=$?
    expect_equal "$status" $((128 + $(kill -l "$name"))) "status after SIG$name"
    expect_tables out.txt
done
