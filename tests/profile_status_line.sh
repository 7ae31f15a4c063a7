# The line in the last row of the terminal: it takes nothing of the program's output, goes away at the end, and is not drawn where the
# terminal is not ours to draw on.
# timeout: 240
# build: plain
. "$(dirname "$0")/lib.sh"
needs_terminals

cat >watch.py <<'E2'
"""Runs COMMAND in front of a pseudo terminal of ROWS x 100 and prints what the terminal got."""
import fcntl, os, pty, struct, sys, termios
rows, mode = int(sys.argv[1]), sys.argv[2]
child, master = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 100, 0, 0))
    if mode == "raw":
        attributes = termios.tcgetattr(0)
        attributes[3] &= ~(termios.ICANON | termios.ECHO)
        termios.tcsetattr(0, termios.TCSANOW, attributes)
    os.environ["TERM"] = "dumb" if mode == "dumb" else "xterm"
    os.execvp(sys.argv[3], sys.argv[3:])
output = b""
while True:
    try: piece = os.read(master, 4096)
    except OSError: break
    if not piece: break
    output += piece
_, status = os.waitpid(child, 0)
sys.stdout.buffer.write(output)
sys.exit(os.waitstatus_to_exitcode(status))
E2
cat >lines.sh <<'E2'
for i in 1 2 3 4 5 6 7 8; do echo "line $i of the program"; sleep 0.2; done
exit 6
E2
watch() { # watch ROWS MODE OUTPUT [OPTION...]
    local rows=$1 mode=$2 output=$3
    shift 3
    expect_status 6 python3 watch.py "$rows" "$mode" "$CLEAR" profile --db "$TMP/s.db" --interval 0.25 "$@" -o s.profile -- bash lines.sh >"$output"
}

watch 24 cooked out.txt
perl -0pe 's/\e7.*?\e8//gs; s/\n\e\[A//g; s/\r//g' out.txt >program.txt # between save and restore of the cursor is ours
expect_equal "$(grep '^line' program.txt)" "$(for i in 1 2 3 4 5 6 7 8; do echo "line $i of the program"; done)" "the program's own lines"
perl -0ne 'print "$1\n" while /\e7\e\[24;1H\e\[2m(.*?)\e\[0m\e\[K\e8/gs' out.txt >drawn.txt
[ "$(wc -l <drawn.txt)" -ge 3 ] || fail "drawn $(wc -l <drawn.txt) times in 1.6 s at --interval 0.25"
expect_equal "$(grep -vcE '^clear: [0-9.]+ m?s \| [0-9,]+ allocations/s \| [0-9.]+ [KMG]?i?B live \| [0-9.]+ [a-zµ]+ lock wait \| flush [0-9.]+ [a-zµ]+$' drawn.txt)" 0 "lines: $(head -1 drawn.txt)"
expect_equal "$(perl -0ne 'print scalar(() = /\e\[1;23r/g), " ", /\e\[r\e\[24;1H\e\[K\e8(?!.*\e\[24;1H)/s ? "restored" : "kept"' out.txt)" '1 restored' "the scrolling region"

for case in "24 raw" "24 dumb" "4 cooked"; do
    watch ${case% *} ${case#* } none.txt
    expect_equal "$(grep -c $'\e' none.txt)" 0 "escape sequences on a terminal of $case"
done
watch 24 cooked none.txt --quiet
expect_equal "$(grep -c $'\e' none.txt)" 0 "escape sequences with --quiet"
"$CLEAR" profile --db s.db --interval 0.1 -o s.profile -- bash lines.sh >out.txt 2>err.txt
expect_equal "$(cat out.txt err.txt | grep -c $'\e')" 0 "escape sequences in a file"
expect_equal "$(grep -c '^clear: ' err.txt)" 5 "lines of the summary: $(cat err.txt)"
