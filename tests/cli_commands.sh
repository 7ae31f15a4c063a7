#!/bin/bash
# How a command is chosen, help for each, one-line errors with the right status, standard output that fails, and clear
# alone, as ncurses has it.
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

offered() { # offered WORD...: what the last word can be completed to, without the descriptions
    "$CLEAR" help --complete -- "$@" | cut -f1
}
commands=$(offered "")
[ "$(wc -l <<<"$commands")" -ge 7 ] || fail "help --complete lists: $commands"
overview=$("$CLEAR" --help)
declare -A options examples # of each command
for command in $commands; do
    usage=$("$CLEAR" "$command" --help) || fail "$command --help exits $?"
    expect_match "$usage" "^usage: clear $command" "$command --help"
    expect_equal "$("$CLEAR" help "$command")" "$usage" "help $command"
    expect_match "$overview" "^([a-z]+)? +([a-z]+, )*$command(,| +[a-z])" "clear --help"
    got=0
    message=$("$CLEAR" "$command" --no-such-option 2>&1 >/dev/null) || got=$?
    expect_equal "$got" 2 "status of $command --no-such-option"
    expect_equal "$message" "clear: unknown option --no-such-option (see clear $command --help)" "$command"
    options[$command]=$(offered "$command" --)
    for option in ${options[$command]}; do
        expect_match "$usage" "^  (-[A-Za-z], )?$option(\[=| |\$)" "$command $option"
    done
    [ "$(awk 'length > 100' <<<"$usage")" = "" ] || fail "$command --help has lines of more than 100 columns"
    grep -qE '[`]|@include|\*[A-Z]' <<<"$usage" && fail "$command --help has marks of its source: $(grep -E '[`]|@include' <<<"$usage")"
    # It begins with two examples, each with a line that says what it does.
    expect_equal "$(awk '/^usage:/ || /^       clear/ {next} /^[^ ]/ {exit} /^  # / {said++} /^  clear / && said > shown {shown++} END {print (shown >= 2)}' <<<"$usage")" 1 \
        "the examples at the beginning of clear $command --help: $(head -12 <<<"$usage")"
    examples[$command]=$("$CLEAR" help --format man "$command" | awk '/^\.SH/ {on = /EXAMPLES/} on' | sed 's/\\-/-/g' | grep '^clear ')
    [ -n "${examples[$command]}" ] || fail "no examples of $command"
done
# The examples are of commands and options that exist.
for command in $commands; do
    while read -r _ name rest; do
        for word in $rest; do
            case $word in --) break ;; --*) ;; *) continue ;; esac
            case $'\n'${options[$name]:-}$'\n' in *$'\n'"${word%%=*}"$'\n'*) ;; *) fail "an example of $command: clear $name has no ${word%%=*}" ;; esac
        done
    done <<<"${examples[$command]}"
done

# A window of 36 lines and 80 columns has them all, by purpose.
help=$("$CLEAR" help)
[ "$(wc -l <<<"$help")" -le 36 ] && [ "$(awk 'length > 80' <<<"$help")" = "" ] || fail "clear help is larger than a screen"
expect_equal "$(sed -nE 's/^([a-z]+) +[a-z]+,? .*/\1/p' <<<"$help" | paste -sd ' ')" 'record look keep ask move help' 'purposes'

# A terminal has the width that counts.
! has_terminals || expect_equal "$(script -qec "stty cols 60; $CLEAR runs --help" /dev/null | tr -d '\r' | awk 'length > 60' | grep -v '^  clear')" '' 'a narrow terminal'

error() { # error STATUS MESSAGE ARGUMENTS...: exactly this line, nothing on standard output
    local want=$1 text=$2 got=0
    shift 2
    "$CLEAR" "$@" >out 2>err || got=$?
    expect_equal "$got" "$want" "status of clear $*"
    expect_equal "$(cat err)" "clear: $text" "clear $*"
    [ ! -s out ] || fail "clear $* wrote on standard output"
}
error 2 "unknown command 'docter'; did you mean doctor? (see clear --help)" docter
error 2 "unknown command 'qurey'; did you mean query? (see clear --help)" qurey
error 2 "unknown command 'frobnicate' (see clear --help)" frobnicate
error 2 "unknown command '' (see clear --help)" ""
error 2 "unknown option --frob; a command comes first, then its options: clear top --kind cpu (see clear --help)" --frob
error 2 "option --db needs a value (see clear runs --help)" runs --db
error 2 "option --json takes no value (see clear runs --help)" runs --json=yes
error 2 "unknown option -z (see clear runs --help)" runs -z
error 2 "unexpected argument 'more' (see clear version --help)" version more
error 2 "--timeout must be a number such as 0.5, 250ms or 2m, not 'soon' (see clear query --help)" query --timeout soon "SELECT 1"
error 2 "--top must be a number such as 1000 or 10k, not '1.5' (see clear doctor --help)" doctor --top 1.5
error 1 "none.db: no such file; \`clear profile --db none.db TARGET\` creates it" runs --db none.db
[ ! -e none.db ] || fail "reading made a database"

expect_equal "$("$CLEAR" ver | head -1)" "$("$CLEAR" --version | head -1)" "a unique prefix"
expect_match "$("$CLEAR" version)" "^sqlite $(sqlite3 --version | cut -d' ' -f1)," "the library that runs, as the shell's"
expect_match "$("$CLEAR" -V | head -1)" '^clear [0-9]+\.[0-9]+\.[0-9]+$' "version"

# Alone it is ncurses' clear(1), on a terminal and off it: the same bytes and status for every terminal, and its options.
ncurses=/usr/bin/clear
written() { "$@" >out 2>/dev/null; echo "status $?" >>out; od -c out; }
if dpkg -S $ncurses 2>/dev/null | grep -q '^ncurses'; then
    for type in xterm xterm-256color screen linux vt100 dumb nosuch; do
        for options in "-T $type" "-T$type -x" "-xT $type"; do
            # shellcheck disable=SC2086
            expect_equal "$(written "$CLEAR" $options)" "$(written $ncurses $options)" "clear $options"
        done
        expect_equal "$(TERM=$type "$CLEAR" 2>/dev/null | od -c)" "$(TERM=$type $ncurses 2>/dev/null | od -c)" "TERM=$type clear"
    done
fi
message=$(env -u TERM "$CLEAR" 2>&1 >out) && fail 'clear without TERM'
expect_match "$message" '^clear: TERM is not set.*clear help' 'clear without TERM'
[ ! -s out ] || fail "clear without TERM wrote on standard output"
screen() { # screen COMMAND...: what it writes on a terminal, in hex, and its status
    python3 -c 'import os, pty, sys
child, master = pty.fork()
if child == 0:
    os.execv(sys.argv[1], sys.argv[1:])
out = b""
try:
    while data := os.read(master, 1024):
        out += data
except OSError:  # EIO: the terminal has no other end any more
    pass
print(out.hex(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))' "$@" </dev/null
}
export TERM=xterm
! has_terminals || expect_equal "$(screen "$CLEAR")" "1b5b481b5b324a1b5b334a 0" "clear on a terminal"
! has_terminals || expect_equal "$(screen "$CLEAR" -x)" "1b5b481b5b324a 0" "clear -x on a terminal"

# A full disk is an error; a reader that went away is not worth a word.
got=0
message=$("$CLEAR" --help 2>&1 >/dev/full) || got=$?
expect_equal "$got $message" "1 clear: standard output: No space left on device" "a full disk"
got=$({ (trap '' PIPE; sleep 0.2; "$CLEAR" --help 2>err; echo $? >status); } | true; cat status)
expect_equal "$got $(cat err)" "1 " "a closed pipe that is ignored"
needs_terminals # for the parts above
