#!/bin/bash
# A source file as the target: built by a rule in a private directory that goes away, run under its own name.
# build: plain
. "$(dirname "$0")/lib.sh"
mkdir tmp && export TMPDIR=$TMP/tmp
empty_tmp() { expect_equal "$(find tmp -mindepth 1)" "" "left in \$TMPDIR after $*"; }

cat >'a prog.c' <<'C'
#include "own header.h"
#include <stdio.h>
#include <string.h>
__attribute__((noinline)) static void *makes(size_t size) {
    char *made = malloc(size);
    made[0] = 1;
    return made;
}
int main(int argc, char **argv) {
    for (int i = 0; i < COUNT; i++) makes(24);
    for (int i = 0; i < argc; i++) printf("<%s>", strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i]);
    for (int c; (c = getchar()) != EOF;) putchar(c);
    return argc + 4;
}
C
printf '#include <stdlib.h>\nenum { COUNT = 37 };\n' >'own header.h'

# ---- clear's own rule for C
expect_status 7 profile 'a prog.c' -- 'one two' --x <<<"input" >out.txt 2>err.txt
expect_match "$(cat err.txt)" "^clear: a prog.c is built with cc -O2 -g .*-fno-builtin-malloc" "what clear says of the build"
expect_equal "$(cat out.txt)" "<a prog><one two><--x>input" "what the program prints: its name, arguments and input"
expect_equal "$(sql t.db "SELECT command, exit_status FROM runs")" "'a prog.c' 'one two' --x|7" "command and status"
expect_equal "$(sql t.db "SELECT function, file, line, module, sum(alloc_count), sum(alloc_bytes) FROM heap WHERE function = 'makes' GROUP BY 1, 2, 3, 4")" \
    "makes|$TMP/a prog.c|5|a prog|37|888" "what it allocated, and where"
expect_equal "$(sql t.db "SELECT path, role FROM sources")" "$TMP/a prog.c|source" "its source"
sql t.db "SELECT text FROM source_texts" | cmp -s - <(cat 'a prog.c' && echo) || fail "the text of the source"
[ -f "a prog.profile/heap.pb.gz" ] || fail "no directory a prog.profile/"
[ ! -e "a prog.profile/source.cht" ] || fail "a C source is no source.cht"
expect_match "$(pprof -list makes -sample_index=alloc_objects 'a prog.profile/heap.pb.gz' 2>/dev/null)" '37 +37 +5: +char \*made = malloc\(size\);' "pprof -list"
empty_tmp "a build"
# The same source gives the same program.
profile -q ./'a prog.c' </dev/null >/dev/null
expect_equal "$(sql t.db "SELECT count(*), count(DISTINCT build_id) FROM processes WHERE build_id <> ''")" "2|1" "build ids of two builds"
check_db t.db
# What a compiler would leave out at -O2 is recorded: blocks that are never used.
printf '%s\n' '#include <stdlib.h>' 'int main(void) { for (int i = 0; i < 43; i++) { free(malloc(77)); free(calloc(1, 78)); } }' >unused.c
profile -q unused.c || fail "a program with unused blocks"
expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(free_count), sum(alloc_bytes) FROM heap WHERE function = 'main' AND file LIKE '%/unused.c'")" "86|86|6665" "blocks that are never used"

# ---- the others
cat >twice.cc <<'C'
#include <memory>
#include <cstdlib>
struct Thing { long words[5]; };
__attribute__((noinline)) static Thing *make() { return new Thing; }
int main() { for (int i = 0; i < 6; i++) make()->words[0] = 1; return 0; }
C
profile -q twice.cc || fail "a C++ source"
expect_equal "$(sql t.db "SELECT alloc_count, alloc_bytes, line FROM heap WHERE function = 'make'")" "6|240|4" "C++"
if rustc --version >/dev/null 2>&1; then
    printf '#[inline(never)]\nfn make() -> Vec<u8> {\n    Vec::with_capacity(4321)\n}\nfn main() {\n    for _ in 0..9 { make(); }\n}\n' >crab.rs
    if profile -q crab.rs; then
        expect_equal "$(sql t.db "SELECT sum(alloc_count), sum(alloc_bytes) FROM heap
            WHERE trace_id IN (SELECT trace_id FROM frames WHERE file = '$TMP/crab.rs' AND function LIKE '%make')")" "9|38889" "Rust"
    else
        rustc -o crab crab.rs 2>/dev/null && fail "a Rust source"
    fi
fi
# Zig's rule, with a stand-in for its compiler that takes the words which zig build-exe knows, and no others; what it is given is C.
mkdir bin && cat >bin/zig <<'SH'
#!/bin/bash
printf '<%s>' "$@" >"$RECORD"
[ "$1" = build-exe ] || exit 9
shift
while [ $# -gt 0 ]; do
    case $1 in
    -O) [[ $2 == ReleaseSafe ]] || exit 9; shift ;;
    -fno-strip) strip=no ;;
    -fno-omit-frame-pointer) pointers=yes ;;
    -lc) libc=yes ;;
    -femit-bin=*) output=${1#-femit-bin=} ;;
    *.zig) source=$1 ;;
    *) echo "error: unrecognized parameter: '$1'" >&2; exit 1 ;;
    esac
    shift
done
mkdir -p .zig-cache/o && echo x >.zig-cache/o/x # as zig does, where it is run
exec cc -x c ${strip:+-g} ${pointers:+-fno-omit-frame-pointer} ${libc:+-pthread} -o "$output" "$source"
SH
chmod +x bin/zig
printf '#include <stdlib.h>\n__attribute__((noinline)) static void *grow(void) {\n    return malloc(77);\n}\nint main(int argc, char **argv) {\n    for (int i = 0; i < 13; i++) grow();\n    return argc + 2;\n}\n' >'my heap.zig'
PATH=$TMP/bin:$PATH RECORD=$TMP/zig.txt expect_status 4 profile -q 'my heap.zig' x
expect_match "$(cat zig.txt)" "^<build-exe><-O><ReleaseSafe><-fno-strip><-fno-omit-frame-pointer><-lc><-femit-bin=.*/clear-[^/]*/build/my heap><$TMP/my heap\.zig>$" "words of zig's rule"
expect_equal "$(sql t.db "SELECT function, file, line, alloc_count, alloc_bytes, module FROM heap WHERE function = 'grow'")" \
    "grow|$TMP/my heap.zig|3|13|1001|my heap" "Zig"
expect_equal "$(sql t.db "SELECT command FROM runs ORDER BY id DESC LIMIT 1")" "'my heap.zig' x" "command of a Zig source"
expect_match "$(pprof -list '^grow$' -sample_index=alloc_objects 'my heap.profile/heap.pb.gz' 2>/dev/null)" '13 +13 +3: +return malloc\(77\);' "pprof -list of a Zig source"
rm -rf bin
expect_equal "$(PATH=/usr/bin:/bin RECORD=none "$CLEAR" profile --db t.db 'my heap.zig' 2>&1 | grep -c 'the rule that builds it runs zig, which is not found in PATH')" "$(PATH=/usr/bin:/bin; command -v zig >/dev/null && echo 0 || echo 1)" "no zig"
empty_tmp "other languages"

# ---- what cannot be built: the compiler's words, its status, and nothing else
runs=$(sql t.db 'SELECT count(*) FROM runs')
refused() { # refused STATUS REGEX COMMAND...
    local got=0 want=$1 regex=$2
    shift 2
    "$@" >out.txt 2>err.txt </dev/null || got=$?
    expect_equal "$got" "$want" "status of $*: $(cat err.txt)"
    expect_match "$(tail -1 err.txt)" "$regex" "the last line of $*"
    [ ! -s out.txt ] || fail "$* printed: $(cat out.txt)"
    empty_tmp "$*"
}
echo 'int main(void) { retrn 0; }' >broken.c
refused 1 "^clear: $TMP/broken.c: not built: cc exited with status 1$" profile broken.c
expect_match "$(cat err.txt)" "broken.c:1:18: error: .*retrn" "the compiler's own words"
cp "$ROOT/fixtures/ledger.cht" .
refused 2 '^clear: ledger.cht: there is no rule to build a .cht file; set one in clear.yaml:  toolchain: \{.cht: "COMPILER .*-o \{output\} \{source\}"\}' profile ledger.cht
# The line that it names is one that the configuration takes.
sed -n 's/.*clear.yaml:  \(toolchain:.*}\) (see.*/\1/p' err.txt >clear.yaml
refused 2 "rule that builds it runs COMPILER, which is not found in PATH" profile ledger.cht
with_rule() { printf 'toolchain:\n  %s: %s\n' "$1" "$2" >clear.yaml; }
with_rule .cht "'cc \"-x c -o {output} {source}'"
refused 2 "ledger.cht: a quote \(\"\) is not closed in the rule" profile ledger.cht
with_rule .cht "true {output} {source}"
refused 1 'not built: true exited with status 0, but made no \{output\}$' profile ledger.cht
with_rule .cht "sh -c 'kill -9 \$\$' {output} {source}"
refused 1 'not built: sh was ended by signal 9$' profile ledger.cht
with_rule .cht "cp {source} {output}"
refused 2 'ledger.cht: (not executable|neither an ELF program nor a script)' profile ledger.cht
printf 'int main(void) { return 0; }\n' >fixed.c
with_rule .c "cc -static -o {output} {source}"
refused 2 'fixed.c: statically linked, and nothing can be preloaded into it' profile fixed.c
refused 2 'missing.c: not found in PATH' profile missing.c
rm clear.yaml
expect_equal "$(PATH=$TMP/nowhere "$CLEAR" profile --db t.db fixed.c 2>&1)" \
    "clear: $TMP/fixed.c: the rule that builds it runs cc, which is not found in PATH; clear.yaml can set another, as in  toolchain: {.c: \"COMPILER -o {output} {source}\"} (see clear profile --help)" "no compiler"
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" "$runs" "runs of what was not built"

# ---- a rule of one's own: words, places, files that a compiler leaves, a command beside clear.yaml
mkdir -p project/sub/tools 'project/sub/my src'
cat >project/sub/tools/compiler <<'SH'
#!/bin/sh
for word; do printf '<%s>' "$word"; done >"$RECORD"
{ echo && pwd; } >>"$RECORD"
mkdir -p cache/deep/deeper && echo x >cache/deep/deeper/file && ln -s / cache/root
while [ "$1" != -o ]; do shift; done
exec cc -x c -g -o "$2" "$3"
SH
chmod +x project/sub/tools/compiler
cp fixed.c 'project/sub/my src/own.abc'
with_rule .abc "./tools/compiler  'two words' \"a'b\" x{source}x --dir={directory} --at {build} {none} {} '' -o {output} {source}"
mv clear.yaml project/sub/
(cd 'project/sub/my src' && RECORD=$TMP/record "$CLEAR" profile -q --db "$TMP/t.db" own.abc) || fail "a rule of one's own"
source="$TMP/project/sub/my src/own.abc"
place=$(tail -1 record)
expect_equal "$(head -1 record)" "<two words><a'b><x${source}x><--dir=$TMP/project/sub/my src><--at><$place><{none}><{}><><-o><$place/own><$source>" "words of a rule"
expect_match "$place" "^$TMP/tmp/clear-$(id -u)-[0-9]+-[0-9a-f]+/build$" "where it runs"
empty_tmp "a compiler that leaves files"
[ -d "$ROOT" ] && [ -d /etc ] || fail 'a link in the private directory was followed'

# ---- a rule in place of clear's own
with_rule .c "cc -DVALUE=9 -o {output} {source}"
printf 'int main(void) { return VALUE; }\n' >value.c
expect_status 9 profile -q value.c
rm clear.yaml

# ---- a file that may be executed and is a program is one, whatever it is called; one that is not is a source all the same
printf '#!/bin/sh\nexit 5\n' >script.c && chmod +x script.c fixed.c
expect_status 5 profile -q ./script.c
expect_status 0 profile -q ./fixed.c

# ---- .cht: through C with markers, by the rule of a toy compiler; with and without dumps of its own
plain=$ROOT/fixtures/toy_clear.py
for option in '' --profile; do
    rm -rf ledger.profile t.db
    with_rule .cht "$plain $option -o {output} {source}"
    expect_equal "$(profile -q ledger.cht)" 1015 "output of ledger.cht"
    expect_equal "$(sql t.db "SELECT function, file, line, sum(alloc_count), sum(alloc_bytes), sum(free_count) FROM heap WHERE file LIKE '%.cht' GROUP BY 1 ORDER BY 1")" \
        "keep|$TMP/ledger.cht|13|5|80|0"$'\n'"post|$TMP/ledger.cht|6|1010|16160|1010" "allocations of ledger.cht $option"
    expect_equal "$(sql t.db "SELECT path FROM sources WHERE role = 'source'")" "$TMP/ledger.cht" "source of ledger.cht"
    expect_equal "$(sql t.db "SELECT path GLOB '*/build/._clear_tmp_ledger.c' FROM sources WHERE role = 'transpiled'")" 1 "its transpiled file"
    expect_match "$(pprof -list '^keep$' -sample_index=inuse_objects ledger.profile/heap.pb.gz 2>/dev/null)" \
        '5 +5 +13: +kept = Entry\{ amount: amount, at: i \} @multiowned;' "pprof -list of ledger.cht"
    expect_same_file ledger.profile/source.cht ledger.cht "source.cht"
    # Its program stays, as CLEAR leaves it, and is the one that was recorded: pprof finds its machine code.
    expect_equal "$(./ledger)" 1015 "what ./ledger prints $option"
    expect_match "$(pprof -disasm keep ./ledger ledger.profile/heap.pb.gz 2>&1)" '^ROUTINE =+ keep$' "machine code of ./ledger"
    # What goes in comes out: the directory becomes a run with the same sites, sources and task sites.
    rm ledger.profile/run.txt.gz # of its dumps and profiles alone
    "$CLEAR" ingest -q --db t.db ledger.profile || fail "reading ledger.profile"
    of() { sql t.db "SELECT function, file, line, sum(alloc_count), sum(free_bytes) FROM heap WHERE run_id = $1 GROUP BY 1, 2, 3 ORDER BY 1, 2"; }
    expect_equal "$(of 2)" "$(of 1)" "sites, read again"
    texts() { sql t.db "SELECT role, text_id FROM sources WHERE run_id = $1 ORDER BY role"; }
    expect_equal "$(texts 2)" "$(texts 1)" "texts, read again"
    expect_equal "$(sql t.db "SELECT path FROM sources WHERE run_id = 2 AND role = 'source'")" "$TMP/ledger.cht" "path of the source, read again"
    sites() { sql t.db "SELECT site, task_sites.kind, line, column FROM task_sites JOIN profiles ON profiles.id = profile_id WHERE run_id = $1 ORDER BY site"; }
    expect_equal "$(sites 2)" $'1|BG|18|11\n2|BG|19|12' "task sites, read again"
    [ -z "$option" ] || expect_equal "$(sites 1)" "$(sites 2)" "task sites of the run itself"
    check_db t.db
    # The doctor shows the line, of the text that was built, when the file has gone; in a hundred columns.
    mv ledger.cht gone
    "$CLEAR" doctor --db t.db --top 0 1 >doctor.txt || fail "doctor"
    expect_match "$("$CLEAR" report --db t.db list='^keep$' 1)" '80B +80B +13: +kept = Entry\{ amount: amount, at: i \} @multiowned;' "a listing when the file has gone $option"
    (cd / && "$CLEAR" report --db "$TMP/t.db" list='^keep$' 1) | grep -q '13: *kept = Entry' || fail "a listing from elsewhere $option"
    mv gone ledger.cht
    expect_match "$(cat doctor.txt)" '^ *\[[0-9]+\] keep  ledger.cht:13: kept = Entry\{ amount: amount, at: i \} @multiowned;$' "the doctor's line $option"
    expect_equal "$(LC_ALL=C.UTF-8 grep -E '.{101}' doctor.txt)" "" "lines of more than 100 columns"
done
if perf_records cpu-clock:u; then
    printf 'FN spin(times: Int64) RETURNS !Void ->\n  BURN times;\nEND\nFN main() RETURNS !Void ->\n  spin(200000000);\nEND\n' >spin.cht
    profile -q --cpu=perf --label perf spin.cht || fail "--cpu=perf"
    expect_equal "$(sql t.db "SELECT DISTINCT function, file, line FROM cpu_use WHERE run_id = (SELECT max(id) FROM runs) AND module = 'spin' AND function = 'spin'")" \
        "spin|$TMP/spin.cht|2" "perf's samples of a build"
fi
"$CLEAR" export --db t.db 1 -o again.profile/ || fail "exporting the run"
expect_same_file again.profile/source.cht ledger.cht "source.cht of an export"
expect_same_file again.profile/transpiled.zig ledger.profile/transpiled.zig "transpiled.zig of an export"
# Only a program is replaced, and nothing is left of one whose files are not wanted; what runs is recorded all the same.
with_rule .cht "$plain -o {output} {source}"
left() { # left REGEX OPTION...: what clear says of ./ledger
    expect_equal "$("$CLEAR" profile --db left.db "${@:2}" ledger.cht 2>err.txt)" 1015 "output beside another ./ledger"
    expect_match "$(grep ledger.cht err.txt)" "$1" 'what clear says of ./ledger'
}
left "^clear: the program of $TMP/ledger.cht is ./ledger$"
rm ledger
"$CLEAR" profile --db left.db --no-files ledger.cht >/dev/null 2>&1 && [ ! -e ledger ] || fail 'a program with --no-files'
echo 'my own book' >ledger
left "^clear: the program of $TMP/ledger.cht is not kept: ./ledger is there and is no program$"
expect_equal "$(cat ledger)" 'my own book' 'a text that has the name'
rm ledger && mkdir ledger
left 'is not kept: ./ledger is there and is no program$' -q
rmdir ledger && cp /bin/true ledger && chmod 700 ledger
left 'is ./ledger$'
expect_equal "$(./ledger)" 1015 'a program that was replaced'
if [ "$(id -u)" = 0 ]; then
    mv ledger elsewhere && ln -s elsewhere ledger && chown -h 65534 ledger
    left 'is not kept: ledger: is a symbolic link of another user'
    rm ledger
fi
expect_equal "$(sql left.db 'SELECT count(*) FROM runs')" "$(($(id -u) == 0 ? 6 : 5))" 'runs beside another ./ledger'
expect_equal "$(find . -maxdepth 1 -name '*.tmp-*')" '' 'what is left beside it'
empty_tmp "everything"
