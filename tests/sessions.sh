# Two new users, each in a terminal of their own (80 and 200 columns): from the clone to the first finding in at most seven commands and
# under three minutes, and none of the commands fails. The clone finds its objects built, as `make` leaves them; with FRESH set it
# builds them.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"
needs_terminals
git -C "$ROOT" rev-parse HEAD >/dev/null 2>&1 || skip "this is no clone that could be cloned"
[ -n "${FRESH:-}" ] || [ -z "${SANITIZED:-}" ] || skip 'the sanitizers make clear slower than a user would have it; the plain suite plays the sessions'

built=$BUILD
unset CLEAR_PAGER PAGER BUILD # a user's make has none, and would else build the clone's sources in the place of ours
export HOME=$TMP
terminal() { tmux -L "clear-$$" "$@"; }
trap 'terminal kill-server 2>/dev/null' EXIT
screen() { terminal capture-pane -p -J -S - -t user; }
shows() { screen | grep -Eq -- "$1"; }
build_is_there() { # what an earlier make in the clone left
    mkdir -p "$1/build" && cp -a "$built/." "$1/build/" && cp "$CLEAR" "$(dirname "$CLEAR")/libclear_rt.so" "$1/" || fail 'copying the build'
    find "$1" -name .git -prune -o -type f ! -path '*/build/*' ! -name clear ! -name libclear_rt.so -exec touch -d '2 hours ago' {} +
}
type_in() { # type_in COMMAND: at the prompt; waits for the next prompt, leaves a pager, and fails if the command did
    local status lines=0
    commands=$((commands + 1))
    terminal send-keys -t user -l "$1" && terminal send-keys -t user Enter
    until status=$(screen | grep -oE "^status [0-9]+ of $commands " | tail -1) && [ -n "$status" ]; do
        case $(screen | tail -1) in :* | *: | *'(END)'* | *'lines '*) terminal send-keys -t user q ;; esac
        lines=$((lines + 1))
        [ $lines -lt 1500 ] || fail "no end of: $1; $(screen | tail -5)"
        sleep 0.1
    done
    [ "${status#status }" = "0 of $commands " ] || fail "$1: $status: $(screen | tail -20)"
}
session() { # session COLUMNS COMMAND...: types them all; the screen's text is in COLUMNS.txt
    local columns=$1 started=$SECONDS
    shift
    commands=0
    mkdir "$columns" || fail 'a home'
    terminal -f /dev/null new-session -d -s user -x "$columns" -y 40 "cd $TMP/$columns && exec bash --norc --noprofile" || fail tmux
    terminal set-option -g history-limit 20000
    terminal send-keys -t user "n=0; PROMPT_COMMAND='echo \"status \$? of \$n \"; n=\$((n + 1))' PS1='$ '; clear" Enter
    wait_for 'the first prompt' shows '^status 0 of 0 '
    for command; do
        type_in "$command"
        [ -n "${FRESH:-}" ] || [ "$commands" -ne 1 ] || build_is_there "$columns/clear"
    done
    screen >"$columns.txt"
    terminal kill-session -t user
    [ "$commands" -le 7 ] || fail "$commands commands"
    [ $((SECONDS - started)) -lt 180 ] || fail "$((SECONDS - started)) seconds to the first finding"
}

# Who has a slow C program.
session 80 "git clone -q $ROOT clear" 'cd clear' 'make -s' './clear profile --cpu=999 fixtures/fault_tiny_allocs.c' './clear doctor' \
    './clear list --sample_index=alloc_objects copy_token' './clear runs'
line=$(grep -n strndup "$ROOT/fixtures/fault_tiny_allocs.c" | cut -d: -f1)
expect_match "$(cat 80.txt)" "copy_token +fault_tiny_allocs\.c:$line" 'the finding and its line'
expect_match "$(cat 80.txt)" 'arena: many tiny blocks' 'what it means'
expect_equal "$(sed -n '/^[0-9]* warning/,/^ *clear query --db\|^ROUTINE/p' 80.txt | grep -v ^ROUTINE | LC_ALL=C.UTF-8 grep -E '.{81}')" '' 'lines of the report that do not fit'
expect_equal "$(sed -n '/^run  started/,/^status/p' 80.txt | LC_ALL=C.UTF-8 grep -Ec '.{81}')" 0 'lines of the list of runs that do not fit'

# Who comes from perf and pprof.
session 200 "git clone -q $ROOT clear" 'cd clear' 'make -s' './clear profile -g -F 999 -o out fixtures/fault_hot_mutex.c' './clear top5 --kind cpu' './clear doctor -3'
expect_match "$(cat 200.txt)" 'Showing top 5 nodes' 'the list that top5 is'
expect_match "$(cat 200.txt)" 'fault_hot_mutex\.c:[0-9]+' 'a finding with its line'
