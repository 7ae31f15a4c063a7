# What a newcomer types who knows perf, pprof or git: other tools' commands and options are answered by purpose, reports say what
# they show, and every wrong word gets a line that helps.
# build: plain
. "$(dirname "$0")/lib.sh"

profile -q --cpu=999 -- "$FIXTURES/fault_tiny_allocs" >/dev/null || fail 'a run to look at'
clear() { "$CLEAR" "$@"; }
refused() { # refused REGEX ARGUMENTS...: a usage error whose one line matches
    local regex=$1 got=0
    shift
    "$CLEAR" "$@" >out 2>err </dev/null || got=$?
    expect_equal "$got" 2 "status of clear $*"
    [ ! -s out ] || fail "clear $* wrote on standard output"
    expect_match "$(grep '^clear: ' err)" "$regex" "clear $*"
}

# Commands of other tools.
refused "unknown command 'record': that is clear profile PROGRAM" record ./a.out
refused "that is clear doctor OLD --diff NEW" diff
refused "that is clear ingest FILE" import x
refused "that is clear list FUNCTION" annotate
refused "that is clear doctor " stat
refused "that is clear web" ui
refused "that is clear trend" history
refused "that is clear gate" ci
refused "that is clear rm RUN" delete
refused "that is clear push" upload
refused "that is clear pull RUNS" fetch
refused "that is clear profile PROGRAM" perf record ./a.out
refused "that is clear report weblist=FUNCTION" weblist main
refused "that is clear top --kind heap" heap
# What is answered so is no command of clear, which would run instead.
sed -n '/commands_elsewhere\[\] = {/,/^};/s/^    {"\([^"]*\)".*/\1/p' "$ROOT/cli/advice.c" | sort >elsewhere.txt
clear help --complete -- '' | cut -f1 | sort >commands.txt
[ "$(wc -l <elsewhere.txt)" -gt 30 ] && grep -qx doctor commands.txt || fail "two lists to compare: $(wc -l elsewhere.txt commands.txt)"
expect_equal "$(comm -12 elsewhere.txt commands.txt)" '' "commands of clear that are answered as others' are"
# Their options.
refused 'a command comes first, then its options: clear top --kind cpu' --db t.db top
refused "clear store has no 'int', did you mean init; it has init, status, findings, upgrade, gc, check, shard, move and grant" store int
refused '^clear: --to: the address of a store is postgresql://' push --to http://db.example.com/profiles
refused 'there is no process 123456789' profile -p 123456789
refused 'every figure has its call stack' profile --call-graph dwarf true
refused 'reports are text already' report --stdio
refused 'names are full here; clear doctor shortens' top --full-names
refused 'the ending names the format: -o NAME.svg' export --svg
refused 'the address is --http PORT' serve --port 8080
refused 'the directory of the profiles is -o DIR' profile --output-dir x true
refused 'two runs are compared by clear doctor 1 --diff 2' doctor 1 2
refused 'recorded without an option; --no-heap and --no-locks' profile --heap true
refused 'recorded without an option; --no-heap and --no-locks' profile --locks true
refused 'all kinds are judged; one kind alone is clear top --kind' doctor --kind cpu
refused "that is clear doctor " summary
refused 'did you mean --label' profile --lable x true
refused 'name the run by its label' doctor --lable x
refused 'clear tree and clear peek' top -g
clear profile -g -F 49 --db t.db -q -o g.profile -- "$FIXTURES/fault_tiny_allocs" >/dev/null || fail 'profile -g -F'
expect_equal "$(sql t.db "SELECT json_extract(sample_types, '\$') IS NOT NULL FROM profiles WHERE run_id = 2 AND kind = 'cpu' LIMIT 1" 2>/dev/null | head -c 1)" 1 'a cpu profile'
[ -s g.profile/cpu.pb.gz ] || fail '-F samples, -o names the directory'

# N lines: as head, pprof and git have it.
lines() { grep -cE '^ +[0-9.]+[a-zA-Z]* +[0-9.]+%' "$1"; }
for words in "top -5" "top -n 5" "top -n=5" "top5" "top -nodecount=5" "report top -5"; do
    # shellcheck disable=SC2086
    clear $words --kind cpu --db t.db >out 2>/dev/null || fail "clear $words: $?"
    expect_equal "$(lines out)" 5 "lines of clear $words"
done
clear doctor -1 --db t.db >one.txt && clear doctor -n 1 --db t.db >two.txt && clear doctor --top 1 --db t.db >three.txt || fail 'doctor -1'
expect_same_file one.txt three.txt 'doctor -1' && expect_same_file two.txt three.txt 'doctor -n 1'
refused 'unknown option -5' schema -5

# Which kind is shown, which others there are, and that a number is a run.
clear top --db t.db >/dev/null 2>err || fail top
expect_match "$(cat err)" '^clear: heap of run 2 by alloc_space, because .*; --sample_index=inuse_space shows those; --kind shows another: cpu, lock(, .*)?$' 'the kind that top chose'
clear top --kind cpu --db t.db >/dev/null 2>err || fail top
expect_equal "$(grep -v '^clear: [0-9,]* CPU samples*[:;,] ' err)" '' 'top with a kind'
clear top 1 --db t.db >/dev/null 2>err || fail 'top 1'
expect_match "$(cat err)" 'of run 1[; ].*clear top -1 shows 1 line$' 'a number is a run'
refused "^clear: 5 is a run \\(clear top -5 shows 5 lines\\): t.db: no run '5' among 2" top --db t.db 5

# A function whose blocks were all freed is not in use: who asks for it by the type that is shown is told where it is.
printf '%s\n' '#include <stdlib.h>' 'static void *volatile kept;' \
    '__attribute__((noinline)) void frees_all(void) { for (int i = 0; i < 9; i++) { kept = malloc(50); free(kept); } }' \
    '__attribute__((noinline)) void frees_none(void) { kept = malloc(70); }' \
    'int main(void) { frees_all(); frees_none(); frees_all(); return 0; }' >freed.c
"${CC:-gcc}" -g -O1 -fno-builtin -o freed freed.c && clear profile -q --no-files --cpu=off --db f.db ./freed >/dev/null 2>err || fail "freed.c: $(cat err)"
for words in "list frees_all" "peek frees_all" "report source=frees_all" "report disasm=frees_all"; do
    # shellcheck disable=SC2086
    clear $words --kind heap --db f.db >out 2>err && fail "clear $words shows what is not in use"
    expect_match "$(cat err)" 'frees_all.* in inuse_space; --sample_index=alloc_space has it' "clear $words"
    # shellcheck disable=SC2086
    clear $words --kind heap --db f.db --sample_index=alloc_space >out 2>err || fail "clear $words of alloc_space: $(cat err)"
    expect_match "$(cat out)" frees_all "clear $words of alloc_space"
    # shellcheck disable=SC2086
    clear $words --kind heap --db f.db --sample_index=inuse_objects >out 2>err && fail "clear $words of inuse_objects"
    expect_match "$(cat err)" ' in inuse_objects; --sample_index=alloc_objects has it' "clear $words of inuse_objects"
done
clear list nobody --kind heap --db f.db >out 2>err && fail 'nobody is listed'
expect_equal "$(cat err)" "clear: no function matches 'nobody'" 'a function that no type has'

# One kind needs no --kind; of several, the refusal names them.
clear export --db t.db 1 --kind cpu -o cpu.pb.gz || fail 'export'
clear ingest --db one.db cpu.pb.gz >/dev/null 2>next.txt || fail ingest
clear export --db one.db -o picture.svg 2>err || fail "export of one kind: $(cat err)"
expect_match "$(head -c 300 picture.svg)" '<svg' 'the picture'
refused 'heap, cpu, lock.*choose with --kind' export --db t.db -o picture.svg
# What was ingested is named, and the line can be pasted whatever the names are.
expect_match "$(cat next.txt)" '^clear: next: clear doctor --db one.db 1; ' 'next of ingest'
mkdir "a 'b" && clear ingest --db "a 'b/c d.db" cpu.pb.gz >/dev/null 2>next.txt || fail 'ingest with blanks'
PATH=$(dirname "$CLEAR"):$PATH sh -c "$(sed -n 's/^clear: next: \(.*\); clear top.*/\1/p' next.txt)" >doctor.txt 2>err || fail "the pasted line: $(cat next.txt err)"
(cd "a 'b" && clear profile --db "e f.db" -o 'g h' -- "$FIXTURES/heap_counts" >/dev/null 2>../next.txt) || fail 'profile with blanks'
(cd "a 'b" && PATH=$(dirname "$CLEAR"):$PATH sh -c "$(sed -n 's/^clear: next: \(.*\); go tool.*/\1/p' ../next.txt)" >doctor.txt 2>err) || fail "the pasted line: $(cat next.txt)"
expect_match "$(cat next.txt)" "'g h/heap.pb.gz'" 'the profile in the next line'

next_of() { # next_of KIND ARGUMENTS...: the profile that the summary points at, which is there
    local kind=$1
    shift
    clear profile --db n.db -o n.profile "$@" >/dev/null 2>next.txt || fail "profile $*"
    expect_match "$(grep ' next: ' next.txt)" "; go tool pprof -http=: n.profile/$kind.pb.gz$" "next of profile $*"
    kind=$(sed -n 's|.* n.profile/\([a-z-]*\).pb.gz$|\1|p' next.txt)
    [ -s "n.profile/$kind.pb.gz" ] || fail "no n.profile/$kind.pb.gz"
}
next_of cpu --cpu=499 "$FIXTURES/heap_counts"
next_of cpu -F 49 "$FIXTURES/heap_counts"
next_of heap "$FIXTURES/heap_counts"
next_of heap --cpu=off "$FIXTURES/heap_counts"
next_of cpu --no-heap "$FIXTURES/cpu_burn" threads 50
next_of "(lock|wait)" --no-heap --cpu=off "$FIXTURES/lock_counts"

# --run of a file is said, and not ignored.
refused '--runs is for a store, and \./[a-z.]* is a file: leave out --runs 3' doctor --run 3 ./read.folded

# Of a Go program with C code a part is recorded: that is said before it runs.
if command -v go >/dev/null; then
    printf 'package main\n\n// #include <stdlib.h>\nimport "C"\n\nfunc main() { C.free(C.malloc(100)); println("ran") }\n' >mixed.go
    CGO_ENABLED=1 HOME=$TMP go build -o mixed mixed.go || fail 'go build'
    clear profile --no-files --db go.db ./mixed >said.txt 2>&1 || fail "$(cat said.txt)"
    expect_match "$(head -1 said.txt)" "^clear: \./mixed is a Go program with C code: what C allocates .* is recorded" 'before it runs'
    expect_match "$(sed -n 2p said.txt)" '^ran$' 'the program'
    clear profile -q --no-files --db go.db ./mixed >said.txt 2>&1
    expect_equal "$(cat said.txt)" ran 'with --quiet'
fi

# A program or a source is to be profiled first.
refused 'a program: profile it \(clear profile .*\), or name a run' doctor --db t.db "$FIXTURES/heap_counts"
printf 'int main(void) { return 0; }\n' >source.c
refused 'a source file: profile it' doctor --db t.db ./source.c
refused 'a program: profile it' top --db t.db "$FIXTURES/heap_counts"

# SQL: what there is instead.
refused 'no such column: functon; did you mean function\?; heap has run_id, profile_id' query --db t.db 'SELECT functon FROM heap'
for column in $(sql t.db "SELECT name FROM pragma_table_info('heap')"); do
    grep -q "[ ,]$column[ ,]" err || fail "the columns of heap lack $column: $(cat err)"
done
cp t.db broken.db && sql broken.db 'CREATE VIEW mine AS SELECT missing_one FROM runs'
refused 'no such column: missing_one; the view mine itself does not work' query --db broken.db 'SELECT * FROM mine'
refused 'no such table: hep; did you mean heap\?; clear schema lists' query --db t.db 'SELECT 1 FROM hep'

# -o: an ending that no format has is refused with the list; pipes, devices and names without an ending are not.
refused 'no format has this ending: \.pb\.gz, \.folded, \.svg' export --db t.db --kind heap -o out.html
refused 'ending: .*\.csv, \.packed, \.otlp, \.trace\.json, \.perfetto-trace, \.firefox\.json;' export --db t.db --kind heap -o out.html
refused 'no format has this ending' export --db t.db --kind heap -o out.svg.gz
[ ! -e out.html ] && [ ! -e out.svg.gz ] || fail 'out.html or out.svg.gz was written'
mkfifo pipe pipe.html
for pipe in pipe pipe.html; do
    gunzip <"$pipe" >unpacked.pb & clear export --db t.db --kind heap -o "$pipe" && wait $! || fail "export into the pipe $pipe"
    [ -s unpacked.pb ] || fail "nothing came through $pipe"
done
clear export --db t.db --kind heap -o plain && gunzip <plain >/dev/null || fail 'a name without an ending'
clear export --db t.db --kind heap -o /dev/stdout | gunzip >/dev/null || fail '/dev/stdout'

# The directory of a run is checked before the program starts, and never changes its exit status.
printf '#!/bin/sh\ntouch "%s/it-ran"\nexit 3\n' "$TMP" >program && chmod +x program
touch file
got=0
clear profile --db d.db -o file/below -- ./program 2>err || got=$?
[ "$got" != 0 ] && [ "$got" != 3 ] && [ ! -e it-ran ] || fail "a directory that cannot be: $got $(cat err)"
expect_match "$(cat err)" 'file/below' 'the message names it'
printf '#!/bin/sh\nchmod 555 "%s/closed"; rmdir "%s/closed/x"; touch "%s/closed"; rm -rf "%s/closed"; touch "%s/closed"\nexit 3\n' "$TMP" "$TMP" "$TMP" "$TMP" "$TMP" >program
mkdir closed
expect_status 3 "$CLEAR" profile --db d.db -o closed/x -- ./program 2>err
expect_match "$(cat err)" 'warning: closed/x: .*the run is stored, and clear export --db d.db 1 -o DIR/' 'the files that could not be written'
expect_equal "$(sql d.db 'SELECT count(*) FROM runs')" 1 'the run'

# Limits are whole numbers with units; counts agree with their nouns.
refused 'out of range \(10 ms to 1 h\)' profile --interval 1ms true
refused 'out of range \(1 B to 1024 GiB\)' profile --sample 9000GB true
clear profile --db d.db -o s.profile -- "$FIXTURES/heap_counts" >/dev/null 2>err || fail 'a run'
nouns='allocation|stack|acquisition|lock|flush|event|process'
grep -E "[^0-9,.](1 ($nouns)e?s|[0-9,.]*([02-9]|[0-9]1) ($nouns))\b" err && fail 'a singular or a plural that is none'
expect_match "$(cat err)" '1 flush in|[0-9] flushes in' 'flushes are counted'
