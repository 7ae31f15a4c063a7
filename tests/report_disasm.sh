#!/usr/bin/env bash
# clear report disasm=RE prints what pprof with binutils does, byte for byte: programs that lie anywhere and that do not, libraries, C++,
# Go, our own recordings; both sorts of tools; both syntaxes. go tool pprof, whose disassembler is another, agrees on the numbers. And what
# is said where there is no objdump, no binary, another build, no match.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/code.bash"
build_programs
build_go

# pprof looks at the first node that the iteration of a map gives, to learn where each binary lies: if that is in another binary, this one
# has no functions for it. So it is asked until it finds some.
viewer_disasm() { # viewer_disasm TOOLS ARGUMENTS...
    local tools=$1 try
    shift
    for try in $(seq 40); do
        PATH=$TMP/$tools "$viewer" -symbolize=none "$@" >want 2>want.err && return
        grep -q 'no matches found' want.err || fail "pprof $*: $(cat want.err)"
    done
    fail "pprof $*: no matches in $try tries"
}

same_code() { # same_code TOOLS RE FILE OPTIONS...: every other one with $PLAIN_CLEAR, of each sort of tools the others
    local tools=$1 regex=$2 file=$3 clear=$CLEAR
    shift 3
    [ $((compared % 2)) = 0 ] || clear=$PLAIN_CLEAR
    PATH=$TMP/$tools "$clear" report "disasm=$regex" "$@" "./$file" >got 2>got.err || fail "disasm=$regex $* $file: $(cat got.err)"
    viewer_disasm "$tools" "$@" "-disasm=$regex" "$file"
    expect_match "$(cat want)" '^ROUTINE =+ ' "pprof's $regex of $file"
    expect_same_file got want "$tools: disasm=$regex $* $file"
    compared=$((compared + 1))
}
compared=0
sorts=(gnu)
[ -x llvm/llvm-objdump ] && sorts+=(llvm)
for tools in "${sorts[@]}"; do
    for file in pie nopie plain; do
        same_code "$tools" hot_ $file.pb.gz
        same_code "$tools" 'hot_sum|hot_text' $file.pb.gz -intel_syntax -sample_index=samples
    done
    same_code "$tools" 'Stack<int>::|price' library.pb.gz
    same_code "$tools" 'Stack(<int>)?::push' library.pb.gz -divide_by=3 -unit=ms
    same_code "$tools" hotHash hot.pb.gz
    same_code "$tools" hotHash hot.pb.gz -intel_syntax
    same_code "$tools" hot_ pie.pb.gz -focus=hot_text -relative_percentages
done
expect_equal "$compared" $((11 * ${#sorts[@]})) "comparisons"

# ---- functions at an address: every name that it has ----
address=0x$(nm nopie | awk '$3 == "hot_sum" { print $1 }')
same_code gnu "$address" nopie.pb.gz
expect_match "$(cat got)" '^ROUTINE =+ hot_sum$' "the function at $address"

# ---- a recording of our own: from the warehouse and from the profile that the oracle makes of its tables ----
CLEAR=$PLAIN_CLEAR profile -q -o code.profile --no-heap --no-locks ./pie >/dev/null || fail "pie"
python3 "$ROOT/tests/oracle.py" t.db code.pb.gz --kind cpu || fail "oracle.py"
same_code gnu hot_sum code.pb.gz
PATH=$TMP/gnu "$CLEAR" report --db t.db disasm=hot_sum >got || fail "from the warehouse"
expect_same_file got want "the run in the warehouse"
awk '$3 ~ /:$/ && $1 != "." { print $3, $1, $2 }' got | sort >rows
[ -s rows ] || fail "no instruction of hot_sum was sampled"
# By SQL: samples at the leaf, by address.
sql t.db "SELECT printf('%x: %dms', locations.address, round(sum(cpu_ns) / 1e6)) FROM cpu JOIN frames ON frames.trace_id = cpu.trace_id AND frames.depth = 0
    JOIN locations ON locations.id = frames.location_id JOIN mappings ON mappings.id = mapping_id
    JOIN location_lines ON location_lines.location_id = locations.id JOIN functions ON functions.id = function_id AND functions.name = 'hot_sum'
    WHERE mappings.filename LIKE '%/pie' GROUP BY locations.address" | sort >want
PATH=$TMP/gnu "$CLEAR" report --db t.db disasm=hot_sum -unit=ms >got
awk '$3 ~ /:$/ && $1 != "." { printf "%s %.0fms\n", $3, $1 + 0 }' got | sort >rows
expect_same_file rows want "the values of instructions and SQL"

# ---- go tool pprof: the same numbers at the same addresses ----
numbers() { awk '$3 ~ /^[0-9a-f]+:$/ && $1 != "." { print $3, $1, $2 }'; }
for file in nopie.pb.gz hot.pb.gz code.pb.gz; do
    regex=hot_sum
    [ $file = hot.pb.gz ] && regex=hotHash
    pprof "-disasm=$regex" $file 2>/dev/null | numbers >want
    PATH=$TMP/gnu "$CLEAR" report "disasm=$regex" ./$file | numbers >got
    [ -s want ] || fail "go tool pprof shows nothing of $file"
    expect_same_file got want "numbers of go tool pprof for $file"
done

# ---- what cannot be ----
refuse() { # refuse TEXT ARGUMENTS...
    local text=$1 got=0
    shift
    PATH=${path:-$PATH} "$CLEAR" "$@" >out 2>err || got=$?
    expect_equal "$got" 1 "status of clear $*"
    expect_match "$(tail -n 1 err)" "$text" "clear $*"
    [ ! -s out ] || fail "clear $* wrote on standard output"
}
refuse '^clear: no matches found for regexp: nobody$' report disasm=nobody ./pie.pb.gz
mkdir empty
path=$TMP/empty refuse '^clear: no objdump is installed, .*apt-get install binutils' report disasm=hot_ ./pie.pb.gz
refuse '^clear: no objdump is installed' report disasm=hot_ -tools="$TMP/empty" ./pie.pb.gz
PPROF_TOOLS=$TMP/empty refuse '^clear: no objdump is installed' report disasm=hot_ ./pie.pb.gz
"$CLEAR" report disasm=hot_ -tools="objdump:$TMP/gnu" ./pie.pb.gz >got 2>err || fail "tools by name: $(cat err)"

printf '#!/bin/sh\n[ "$1" = --version ] && echo "GNU objdump 1" && exit\necho "no such thing as $#" >&2\nexit 3\n' >empty/objdump
chmod +x empty/objdump
refuse '^clear: objdump failed: no such thing as' report disasm=hot_ -tools="$TMP/empty" ./pie.pb.gz
rm empty/objdump

# Recorders keep 20 bytes of a build id; the file's may have more.
printf '#include <stdlib.h>\n__attribute__((noinline)) static void *keep(void) { return malloc(100); }\nint main(void) { return !keep(); }\n' >long_id.c
"${CC:-gcc}" -O1 -g -Wl,--build-id=0x0123456789abcdef0123456789abcdef0123456789abcdef -o long_id long_id.c || fail "no long build id"
"$PLAIN_CLEAR" profile --db long_id.db ./long_id >/dev/null 2>err || fail "long build id: $(cat err)"
"$CLEAR" report --db long_id.db --kind heap disasm=keep >got 2>err || fail "a build id of 24 bytes: $(cat err)"
expect_match "$(cat got)" "ROUTINE =+ keep" "a build id of 24 bytes"

# Another build in its place; then none; then the right one where it is looked for.
mkdir kept byid byname
mv pie kept/pie
cp nopie pie
refuse '^clear: no matches' report disasm=hot_ ./pie.pb.gz
expect_match "$(cat err)" "^clear: no machine code: $TMP/pie: another build: its build id is [0-9a-f]{40}, the profile's [0-9a-f]{40}\$" "another build"
rm pie
refuse '^clear: no matches' report disasm=hot_ ./pie.pb.gz
expect_match "$(cat err)" "^clear: no machine code: $TMP/pie: No such file or directory\$" "no binary"
printf 'text' >pie
refuse '^clear: no matches' report disasm=hot_ ./pie.pb.gz
expect_match "$(cat err)" "pie: not an ELF file\$" "a text in its place"
rm pie
id=$(readelf -nW kept/pie | sed -n 's/.*Build ID: //p')
mkdir -p "byid/$id"
cp kept/pie "byid/$id/whatever"
cp nopie byname/pie
for place in "$TMP/byid" "$TMP/byname:$TMP/byid" "$TMP/kept"; do
    PPROF_BINARY_PATH=$place PATH=$TMP/gnu "$CLEAR" report disasm=hot_sum ./pie.pb.gz >got 2>err || fail "in $place: $(cat err)"
    PPROF_BINARY_PATH=$place viewer_disasm gnu -disasm=hot_sum pie.pb.gz
    expect_same_file got want "a binary in $place"
    [ ! -s err ] || fail "in $place: $(cat err)"
done
