# clear runs on a terminal of 80 and of 200 columns, of many runs and of long labels; which runs it lists; and the pager of long output.
. "$(dirname "$0")/lib.sh"
needs_terminals

long=$(printf 'l%.0s' $(seq 5000))
"$CLEAR" profile -q --db t.db --label "$long" --tag branch=main -- true || fail 'a long label'
sqlite3 t.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 44)
    INSERT INTO runs(started_ns, source, command, label, uuid) SELECT i * 1000000000, 'profile', '[\"/a/program/with/a/long/path\", \"' || i || '\", \"--and\", \"--options\"]',
        iif(i % 2, 'odd', 'even'), printf('%032x', i) FROM n;
    INSERT INTO tags(run_id, key, value) SELECT id, 'branch', 'main' FROM runs WHERE label = 'odd' AND id > 40" || fail 'more runs'
on_terminal() { # on_terminal COLUMNS COMMAND...: what it writes on a terminal of that width and 24 lines
    local columns=$1
    shift
    TERM=xterm python3 -c 'import fcntl, os, pty, struct, sys, termios
child, master = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
out = b""
try:
    while data := os.read(master, 1024):
        out += data
except OSError:
    pass
sys.stdout.write(out.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))' "$columns" sh -c 'sleep 0.1; exec "$@"' sh "$@" </dev/null
}
"$CLEAR" reseal --db t.db >/dev/null 2>&1 # so that no list shows the progress of that
for columns in 80 200; do
    on_terminal $columns "$CLEAR" runs --db t.db >list.txt || fail "clear runs: $?"
    expect_equal "$(wc -L <list.txt | awk -v most=$columns '{print ($1 <= most)}')" 1 "a list in $columns columns: $(cat list.txt)"
    expect_equal "$(grep -cE '^ *[0-9]+  ' list.txt)" 30 'runs shown'
    expect_equal "$(grep -cE '^ *[0-9]+  .*l\.\.\.( |$)' list.txt)" 1 'the long label, cut with an ellipsis'
    expect_equal "$(tail -1 list.txt)" 'and 15 older runs (--last 0 shows all)' 'the rest'
    for heading in run started label command; do grep -qw "$heading" list.txt || fail "no column $heading in $columns columns"; done
done
grep -qw 'lock wait' list.txt || fail 'a wide terminal has every column'
"$CLEAR" runs --db t.db >list.txt || fail 'into a file'
[ "$(wc -L <list.txt)" -lt 250 ] || fail 'a label of 5,000 characters is cut in a file too'

ids() { "$CLEAR" runs --db t.db "$@" --json | python3 -c 'import json, sys; print(*sorted(run["run_id"] for run in json.load(sys.stdin)))' || fail "runs $*"; }
expect_equal "$(ids | wc -w)" 45 'JSON has all'
expect_equal "$(ids --last 2)" "$(sql t.db "SELECT group_concat(id, ' ') FROM (SELECT id FROM (SELECT id FROM runs ORDER BY started_ns DESC LIMIT 2) ORDER BY id)")" '--last 2'
expect_equal "$(ids --all)" "$(ids --last 0)" '--all'
expect_status 2 "$CLEAR" runs --all --last 2
expect_equal "$(ids --label odd)" "$(sql t.db "SELECT group_concat(id, ' ') FROM runs WHERE label = 'odd'")" '--label'
expect_equal "$(ids --label odd --tag branch=main)" "$(sql t.db "SELECT group_concat(id, ' ') FROM runs WHERE label = 'odd' AND id > 40")" '--label and --tag'
expect_equal "$(ids 3..5,9)" '3 4 5 9' 'a set'
expect_equal "$("$CLEAR" runs --db t.db -3 | grep -cE '^ *[0-9]+  ')" 3 '-3'
"$CLEAR" doctor --db t.db 1 | grep -m1 ^run | awk 'length > 200 {exit 1}' || fail "the doctor's first line has the whole label"

# Long output goes through the pager of the environment on a terminal, and nowhere else.
CLEAR_PAGER='cat >paged.txt' on_terminal 100 "$CLEAR" schema --db t.db >shown.txt || fail "paged: $?"
expect_equal "$(cat shown.txt)" '' 'what the terminal got beside the pager'
"$CLEAR" schema --db t.db >plain.txt
expect_same_file paged.txt plain.txt 'what the pager got'
(unset CLEAR_PAGER && PAGER='cat >paged2.txt' on_terminal 100 "$CLEAR" help >/dev/null) && [ -s paged2.txt ] || fail 'PAGER'
rm -f paged.txt
CLEAR_PAGER='cat >paged.txt' "$CLEAR" runs --db t.db >/dev/null && [ ! -e paged.txt ] || fail 'a pager without a terminal'
CLEAR_PAGER='no-such-pager' on_terminal 100 "$CLEAR" version >shown.txt && CLEAR_PAGER='no-such-pager' on_terminal 100 "$CLEAR" runs -1 --db t.db >shown.txt || fail 'a pager that is not there'
grep -q started shown.txt || fail 'without the pager'
CLEAR_PAGER='head -n 1' on_terminal 100 "$CLEAR" schema --db t.db >shown.txt
expect_equal "$(wc -l <shown.txt)" 1 "a reader that leaves early: $(cat shown.txt)"
