#!/usr/bin/env bash
# Which files are read because a profile names them: by list, weblist and /api/source. Below the working directory, the warehouse's, the
# program's, their git work trees, and -source_path; by no link and no name that leads out, nothing hidden; a server reads less.
# build: plain
. "$(dirname "$0")/lib.sh"
mkdir -p project/src project/build project/.ssh else other/sub
for file in project/src/a.c project/.ssh/id else/b.c other/c.c; do printf "text of $file\n%.0s" 1 2 3 4 5 6 >$file; done
ln -s ../../else/b.c project/src/out.c && ln -s a.c project/src/in.c && ln -s ../.ssh project/src/seen && ln -s "$TMP/project" way
git init -q project 2>/dev/null || mkdir project/.git
printf '[core]\n\ttoken = text of project/.git\n' >project/.git/own
echo 'fn 5' >fn.folded
"$CLEAR" ingest -q --db template.db fn.folded || fail 'a warehouse'
names() { # names DB PATH: the function is in that file
    cp template.db "$1" && sqlite3 "$1" "UPDATE functions SET filename = '${2//\'/\'\'}'" || fail "naming $2"
}
# reads DIRECTORY DB PATH WANTED [OPTION]...: what the listing says, from that working directory: a part of the text, or of the reason.
# Each place with $CLEAR in one of the three forms, and with $PLAIN_CLEAR in the others.
asked=0
reads() {
    local directory=$1 db=$2 path=$3 wanted=$4 format clear
    shift 4
    names "$db" "$path"
    for format in list source weblist; do
        [ $((asked++ / 3 % 3)) = $((asked % 3)) ] && clear=$CLEAR || clear=$PLAIN_CLEAR
        (cd "$directory" && "$clear" report $format=fn "$@" --db "$db") >got 2>err || fail "$format of $path: $(cat err)"
        [ $format != weblist ] || grep -q 'text of' got || continue # the page has no reason
        grep -q -- "$wanted" got || fail "$format of $path from $directory $*: $(tail -n 3 got), not '$wanted'"
    done
}
T=$TMP out='is not below a directory that sources are read from: -source_path='
mine=$TMP/project/build/t.db

# Beside the warehouse and around it; beside the working directory and around it.
reads else "$mine" "$T/project/src/a.c" 'text of project/src/a.c'
reads else "$mine" "$T/project/src/in.c" 'text of project/src/a.c'
reads else "$mine" "$T/project/build/../src/a.c" 'text of project/src/a.c'
reads else "$mine" "$T/way/src/a.c" 'text of project/src/a.c'
reads project/src "$T/other/t.db" "$T/project/src/a.c" 'text of project/src/a.c'
reads project/build "$T/other/t.db" src/a.c 'text of project/src/a.c'
reads other/sub "$T/other/sub/t.db" c.c 'could not find file c.c on path'
reads other "$T/other/sub/t.db" "$T/other/c.c" 'text of other/c.c'

# What lies elsewhere, behind links, above, or is hidden; what is not there is told from what is not read.
reads else "$T/other/t.db" "$T/project/src/a.c" "$T/project/src/a.c $out$T/project/src shows it"
reads project "$mine" "$T/else/b.c" "$T/else/b.c $out"
reads project "$mine" "$T/project/src/out.c" "out.c $out"
reads project "$mine" "$T/project/src/../../else/b.c" "b.c $out"
reads project "$mine" ../else/b.c 'could not find file ../else/b.c on path'
reads project "$mine" src/out.c 'could not find file src/out.c on path'
reads project "$mine" "$T/project/.ssh/id" "id $out"
reads project "$mine" "$T/project/src/seen/id" "id $out"
reads project "$mine" "$T/project/.git/own" "own $out"
reads project "$mine" etc/passwd 'could not find file etc/passwd on path'
reads project "$mine" /etc/passwd "/etc/passwd $out/etc shows it"
reads project "$mine" /proc/self/environ "/proc/self/environ $out"
reads project "$mine" "/proc/self/cwd/src/a.c" 'text of project/src/a.c'
reads / "$T/other/t.db" /etc/passwd "/etc/passwd $out"
reads project "$mine" /nowhere/x.c 'open /nowhere/x.c: no such file or directory'
reads project "$mine" "$T/project/src/none.c" 'no such file or directory'
reads project "$mine" "$T/project/src" "src: \|src $out"

# -source_path: below it, hidden or not, and still not out of it.
reads project "$mine" "$T/else/b.c" 'text of else/b.c' -source_path="$T/else"
reads project "$mine" b.c 'text of else/b.c' -source_path="/none:$T/else"
reads else "$T/other/t.db" "$T/project/.ssh/id" 'text of project/.ssh/id' -source_path="$T/project"
reads other "$T/other/t.db" "$T/project/src/out.c" "could not find file src/out.c" -source_path="$T/project"
reads else "$T/other/t.db" ../else/b.c 'could not find file' -source_path="$T/project"

# -only_source_path=PATHS: neither the working directory nor a work tree.
reads project "$mine" "$T/project/src/a.c" "a.c $out" -only_source_path=:
reads project "$mine" src/a.c 'could not find file' -only_source_path=:
reads project "$T/project/t.db" "$T/project/src/a.c" 'text of project/src/a.c' -only_source_path=:
reads else "$mine" "$T/project/src/a.c" 'text of project/src/a.c' -only_source_path="$T/project/src"

# Beside the program that was recorded, wherever the warehouse is: its build id says that the profile is of it.
mkdir own && printf '%s\n' '#include <stdlib.h>' 'char *volatile kept;' '__attribute__((noinline)) void takes(void) { kept = malloc(10); }' \
    'int main(void) { for (int i = 0; i < 99; i++) takes(); }' >own/prog.c
"${CC:-gcc}" -g -O1 -Wl,--build-id -o own/prog own/prog.c || fail 'a program'
(cd else && "$CLEAR" profile -q --no-files --db "$T/other/own.db" "$T/own/prog") || fail 'a run'
expect_match "$(cd else && "$CLEAR" list --db "$T/other/own.db" --kind heap takes)" 'kept = malloc\(10\)' 'beside the program'
sqlite3 "$T/other/own.db" "UPDATE mappings SET build_id = 'ffffffffffffffffffffffffffffffffffffffff' WHERE filename LIKE '%/prog'" || fail 'another build'
expect_match "$(cd else && "$CLEAR" list --db "$T/other/own.db" --kind heap takes)" "prog.c ${out}$T/own shows it" 'beside another build'

# Machine code of a file that a stranger may have put there, unless it is named.
if [ "$(id -u)" = 0 ] && command -v objdump >/dev/null; then
    (cd else && "$CLEAR" profile -q --no-files --db "$T/other/own.db" "$T/own/prog") || fail 'a second run'
    disasm() { (cd else && "$CLEAR" report disasm=takes --db "$T/other/own.db" "$@" 2>&1); }
    expect_match "$(disasm)" 'ROUTINE' 'machine code'
    chown 65534 own/prog
    expect_match "$(disasm)" 'own/prog: belongs to another user: PPROF_BINARY_PATH=.*/own/ shows it' 'machine code of another user'
    expect_match "$(PPROF_BINARY_PATH=$T/own disasm)" 'ROUTINE' 'PPROF_BINARY_PATH'
    chown 0 own/prog
fi

# A server: what the run kept, and below the warehouse's directory and --source-path, wherever it was started.
served() { # served OPTION...: the answer of /api/source
    (cd project && exec "$CLEAR" serve --db "$served_db" --http 127.0.0.1:0 "$@") >serve.out 2>serve.err &
    local server=$!
    wait_for_text '^serving' serve.out
    curl -s "$(sed -n 's,.*\(http://127.0.0.1:[0-9]*\)/.*,\1,p' serve.out)/api/source?function=fn" >got
    kill "$server"
    wait "$server"
    : >serve.out
}
served_db=$T/other/t.db
names "$served_db" /etc/passwd && served && grep -q "/etc/passwd $out" got || fail "served: $(cat got)"
names "$served_db" "$T/project/src/a.c" && served && grep -q "a.c $out" got || fail "the working directory of a server: $(cat got)"
names "$served_db" "$T/other/none.c" && served && grep -q "no such file" got || fail "below the directory of a warehouse: $(cat got)"
names "$served_db" /nowhere/x.c && served && grep -q "x.c $out" got || fail "a server tells what is there: $(cat got)"
names "$served_db" "$T/other/c.c" && served && grep -q 'text of other/c.c' got || fail "beside a warehouse: $(cat got)"
names "$served_db" "$T/project/src/a.c" && served --source-path "$T/project/src" && grep -q 'text of project/src/a.c' got || fail "--source-path: $(cat got)"
names "$served_db" /etc/passwd
sqlite3 "$served_db" "INSERT INTO source_texts VALUES (1, 'h', 'text that was kept'); INSERT INTO sources VALUES (1, '/etc/passwd', 'source', 1)"
served && grep -q 'text that was kept' got || fail "a text that was kept: $(cat got)"
