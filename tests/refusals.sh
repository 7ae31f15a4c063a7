# What cannot be recorded is refused before it runs, in one line that says what to do.
. "$(dirname "$0")/lib.sh"

refuses() { # refuses STATUS REGEX COMMAND...
    local want=$1 regex=$2 status=0
    shift 2
    "$@" >out.txt 2>err.txt || status=$?
    expect_equal "$status" "$want" "status of $*: $(cat err.txt)"
    expect_equal "$(wc -l <err.txt)" 1 "lines on stderr of $*: $(cat err.txt)"
    expect_match "$(cat err.txt)" "^clear: .*$regex" "message of $*"
    [ ! -e ran ] || fail "the program ran: $*"
}
printf '#!/bin/sh\ntouch ran\n' >script && chmod +x script
printf 'int main(void) { return 0; }\n' >static.c
gcc -static -o static static.c || fail 'no static program'
cp "$FIXTURES/leak" setuid && chmod u+s setuid
cp "$FIXTURES/leak" unreadable && chmod 600 unreadable
mkdir dir

refuses 2 'target|program' profile
refuses 2 'frobnicate' profile --frobnicate ./script
refuses 2 'frobnicate' "$CLEAR" frobnicate
refuses 2 'interval' profile --interval soon ./script
refuses 2 'depth' profile --depth 0 ./script
refuses 2 'depth' profile --depth 100000 ./script
refuses 2 'tag' profile --tag commit ./script
refuses 2 'nowhere' profile ./nowhere
refuses 2 'no-such-program' profile no-such-program
refuses 2 'dir' profile ./dir
refuses 2 'static' profile ./static
# A copy of ours that we own gains nothing by setuid, but the loader may drop the preload: it is refused all the same.
refuses 2 'setuid' profile ./setuid
refuses 2 'unreadable' profile ./unreadable
echo 'this is no database, and it is longer than a header of one hundred bytes would be, so that nobody takes it for an empty file' >text.db
cp text.db text.copy
refuses 1 'text.db' "$CLEAR" profile --db text.db ./script
expect_same_file text.db text.copy 'a file that is no warehouse'
sqlite3 foreign.db 'CREATE TABLE t(a); INSERT INTO t VALUES (1)'
cp foreign.db foreign.copy
refuses 1 'foreign.db' "$CLEAR" profile --db foreign.db ./script
expect_same_file foreign.db foreign.copy 'a database of somebody else'
refuses 1 'no/such' "$CLEAR" profile --db no/such/dir.db ./script
refuses 1 'dir' "$CLEAR" profile --db dir ./script
[ ! -e t.db ] || expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 0 'runs of what never ran'
"$CLEAR" help >help.txt || fail "help: $?"
"$CLEAR" version >version.txt || fail "version: $?"
"$CLEAR" query --db foreign.db 'SELECT 1' >/dev/null 2>&1 && fail 'query of a foreign database'
true
