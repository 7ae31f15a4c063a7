# What cannot be recorded is refused before it runs, in one line that says what to do.
# quick
. "$(dirname "$0")/lib.sh"

refuses() { # refuses STATUS NAMED REASON COMMAND...: in one line that begins with what is NAMED and goes on with the REASON
    local want=$1 named=$2 reason=$3 status=0 said
    shift 3
    "$@" >out.txt 2>err.txt || status=$?
    said=$(cat err.txt)
    expect_equal "$status" "$want" "status of $*: $said"
    expect_equal "$(wc -l <err.txt)" 1 "lines on stderr of $*: $said"
    [ "${said#"clear: $named"}" != "$said" ] || fail "the message of $* does not begin with \"clear: $named\": \"$said\""
    expect_match "${said#"clear: $named"}" "$reason" "reason of $*"
    [ ! -e ran ] || fail "the program ran: $*"
}
# Files have numbers, not the reasons, as their names: no message can match by the name that it repeats.
printf '#!/bin/sh\ntouch ran\n' >script && chmod +x script
printf 'int main(void) { return 0; }\n' >1.c
gcc -static -o file1 1.c || fail 'no static program'
cp "$FIXTURES/leak" file2 && chmod u+s file2
cp "$FIXTURES/leak" file3 && chmod 600 file3
mkdir file4

refuses 2 '' '^no target' profile
refuses 2 '' '^unknown option --frobnicate' profile --frobnicate ./script
refuses 2 '' "^unknown command 'frobnicate'" "$CLEAR" frobnicate
refuses 2 '--interval' "number.*not 'soon'" profile --interval soon ./script
refuses 2 '--depth' '0.* out of range.*1 to 1024' profile --depth 0 ./script
refuses 2 '--depth' '100000.* out of range.*1 to 1024' profile --depth 100000 ./script
refuses 2 '--tag' 'KEY=VALUE' profile --tag commit ./script
refuses 2 './file0' '^: No such file or directory' profile ./file0
refuses 2 'file0' '^: not found in PATH' profile file0
refuses 2 './file4' '^: is a directory, not a program' profile ./file4
refuses 2 './file1' '^: statically linked.*link it dynamically' profile ./file1
# A copy of ours that we own gains nothing by setuid, but the loader may drop the preload: it is refused all the same.
refuses 2 './file2' '^: is setuid.*profile a copy without that bit' profile ./file2
refuses 2 './file3' '^: not executable.*chmod [+]x' profile ./file3
echo 'this is no database, and it is longer than a header of one hundred bytes would be, so that nobody takes it for an empty file' >file5
cp file5 file5.copy
refuses 1 'file5' '^: .*not a SQLite database' "$CLEAR" profile --db file5 ./script
expect_same_file file5 file5.copy 'a file that is no warehouse'
sqlite3 file6 'CREATE TABLE t(a); INSERT INTO t VALUES (1)'
cp file6 file6.copy
refuses 1 'file6' '^: is a SQLite database, but not a warehouse.*--db FILE' "$CLEAR" profile --db file6 ./script
expect_same_file file6 file6.copy 'a database of another program'
refuses 1 'no/such/file7' '^: .*no/such: No such file or directory' "$CLEAR" profile --db no/such/file7 ./script
refuses 1 'file4' '^: is a directory, not a warehouse' "$CLEAR" profile --db file4 ./script
refuses 1 'file6' '^: is a SQLite database, but not a warehouse' "$CLEAR" query --db file6 'SELECT 1'
[ ! -e t.db ] || expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 0 'runs of programs that were refused'
"$CLEAR" help >help.txt || fail "help: $?"
"$CLEAR" version >version.txt || fail "version: $?"

# What fails before it has stored anything takes back the warehouse that it made; one that was there keeps what it has.
leaves_nothing() { # leaves_nothing COMMAND...
    expect_status 1 "$CLEAR" "$@" >out.txt 2>err.txt
    expect_equal "$(find . -name 'made.db*')" '' "what a failed clear $1 leaves"
}
printf 'database: made.db\nthresholds:\n  lock_contended_percent: 60\n' >set.yaml
leaves_nothing ingest --db made.db file5
leaves_nothing ingest --config set.yaml file5
leaves_nothing ingest --db made.db no-such-file file5
leaves_nothing merge made.db file5
leaves_nothing pull --db made.db --from postgresql://127.0.0.1:1/none latest
"$CLEAR" profile --quiet --db kept.db ./script || fail "profile: $?"
before=$(sql kept.db .dump | sha256sum)
expect_status 1 "$CLEAR" ingest --db kept.db file5 2>err.txt
expect_status 1 "$CLEAR" merge kept.db file5 2>err.txt
expect_equal "$(sql kept.db .dump | sha256sum)" "$before" 'a warehouse that was there'
printf 'main;work 1\n' >some.folded
expect_status 1 "$CLEAR" ingest --db kept2.db file5 some.folded >out.txt 2>err.txt
expect_equal "$(sql kept2.db 'SELECT count(*) FROM runs')" 1 'runs of the file that was good'
"$CLEAR" merge empty.db kept.db >out.txt && "$CLEAR" rm --db empty.db 1 >out.txt && "$CLEAR" merge merged.db empty.db >out.txt ||
    fail 'a merge of no runs'
expect_match "$("$CLEAR" runs --db merged.db --json)" '^\[\]$' 'what was made of nothing, without an error'
