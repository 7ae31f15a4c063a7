#!/bin/bash
# A transpiler's output and its markers: each frame in it says the file and line of the source. addr2line says which line of the
# output an address is, and the marker above that is read here, by awk.
# build: plain
. "$(dirname "$0")/lib.sh"

toy=$ROOT/fixtures/toy_clear.py

# The line of the source that a line of the output was made of: of the nearest marker at or above it.
source_line() { # source_line OUTPUT LINE
    awk -v line="$2" 'NR <= line && match($0, /\/\/ CLR:[0-9]+/) { found = substr($0, RSTART + 7, RLENGTH - 7) } END { print found + 0 }' "$1"
}

expect_mapped() { # expect_mapped BINARY OUTPUT SOURCE RUN: every location of the binary in the run
    local binary=$1 output=$2 source=$3 count=0 address file line at want
    while IFS='|' read -r address file line; do
        at=$(addr2line -e "$binary" "$(printf '0x%x' "$address")" | sed 's/ (disc.*//')
        at=${at##*:}
        want=$(source_line "$output" "$at")
        if [ "$want" = 0 ]; then
            expect_equal "${file##*/}:$line" "${output##*/}:$at" "a line above all markers, at $address"
            continue
        fi
        expect_equal "$file:$line" "$source:$want" "address $address, line $at of ${output##*/}"
        count=$((count + 1))
    done < <(sql t.db "SELECT DISTINCT address, frames.file, frames.line FROM heap JOIN frames USING (trace_id) JOIN locations ON locations.id = location_id
        WHERE run_id = $4 AND frames.module = '$(basename "$binary")' AND inlined = 0 AND frames.file <> ''")
    expect_between "$count" 3 100 "locations of $binary that are mapped"
}

record() { # record NAME BINARY: as run NAME
    "$CLEAR" profile -q --db t.db --cpu=off --label "$1" -o "$1.profile" -- "$2" >/dev/null || fail "recording $2"
    sql t.db "SELECT max(id) FROM runs"
}

# ---- what the transpiler's output may be called
while read -r name output sources source; do
    mkdir "$name"
    for file in ${sources//,/ }; do cp "$ROOT/fixtures/ledger.cht" "$name/$file"; done
    (cd "$name" && "$toy" --to "$output" -o ledger "$(cut -d, -f1 <<<"$sources")") || fail "building $name"
    run=$(record "$name" "./$name/ledger")
    expect_mapped "$name/ledger" "$name/$output" "$TMP/$name/$source" "$run"
    expect_equal "$(sql t.db "SELECT function, line, sum(alloc_count) FROM heap WHERE run_id = $run AND file LIKE '%.cht' GROUP BY 1 ORDER BY 1")" \
        $'keep|13|5\npost|6|1010' "allocations of $name"
    expect_equal "$(sql t.db "SELECT path, role FROM sources WHERE run_id = $run ORDER BY role")" \
        "$TMP/$name/$source|source"$'\n'"$TMP/$name/$output|transpiled" "sources of $name"
    sql t.db "SELECT text FROM sources JOIN source_texts ON source_texts.id = text_id WHERE run_id = $run AND role = 'transpiled'" >text
    diff -q <(cat "$name/$output"; echo) text >/dev/null || fail "the text of $name"
done <<'CASES'
own ._clear_tmp_ledger.zig ledger.cht ledger.cht
named transpiled.zig ledger.cht ledger.cht
plain transpiled.zig source.cht source.cht
both transpiled.zig ledger.cht,source.cht ledger.cht
other ledger.c ledger.cht ledger.cht
twofold ledger.cht.c ledger.cht ledger.cht
CASES
expect_equal "$(sql t.db "SELECT count(DISTINCT text) FROM source_texts WHERE text LIKE 'STRUCT%'")" 1 "one source is stored once"
check_db t.db

# ---- what is no transpiler's output keeps its lines: no source of that name, a marker in a header or a string of a file without one
mkdir none
cat >none/runtime.h <<'C'
/* A comment that explains: */
// CLR:77
static inline __attribute__((always_inline)) void *from_header(void) { return malloc(48); }
C
cat >none/main.c <<'C'
#include <stdlib.h>
#include "runtime.h"
// CLR:3
__attribute__((noinline)) static void *in_file(void) { void *made = malloc(32); __asm__ volatile("" : : "r"(made) : "memory"); return made; }
int main(void) { char *kept = in_file(), *other = from_header(); kept[0] = other[0] = 1; __asm__ volatile("" : : "r"(kept), "r"(other) : "memory"); return 0; }
C
"${CC:-gcc}" -g -O1 -o none/main none/main.c || fail "building none"
run=$(record none ./none/main)
expect_equal "$(sql t.db "SELECT function, file, line FROM heap WHERE run_id = $run AND module = 'main' ORDER BY 1")" \
    "from_header|$TMP/none/runtime.h|3"$'\n'"in_file|$TMP/none/main.c|4" "markers without a source"
# The same with main.cht there: the file is mapped, the runtime's header is not.
touch none/main.cht
rm t.db
run=$(record none ./none/main)
expect_equal "$(sql t.db "SELECT function, file, line FROM heap WHERE run_id = $run AND module = 'main' ORDER BY 1")" \
    "from_header|$TMP/none/runtime.h|3"$'\n'"in_file|$TMP/none/main.cht|3" "markers with a source"

# ---- code that is known already takes the texts of the run that resolved it, whatever the files are by now
first=$(record one ./own/ledger)
echo "# edited" >>own/ledger.cht
rm own/._clear_tmp_ledger.zig
second=$(record two ./own/ledger)
texts() { sql t.db "SELECT path, role, text_id FROM sources WHERE run_id = $1 ORDER BY path"; }
expect_equal "$(texts "$second")" "$(texts "$first")" "sources of a run of known code"
expect_equal "$(texts "$first" | wc -l)" 2 "sources of the first run"
expect_equal "$(sql t.db "SELECT count(*) FROM source_texts WHERE text LIKE '%# edited%'")" 0 "an edit after the build"
third=$(record three ./none/main)
expect_match "$(texts "$third")" "main.c\|transpiled" "sources of another program"
expect_equal "$(texts "$third" | grep -c ledger)" 0 "sources of a program are not another's"

# ---- pprof lists the source
listed=$(cd own && pprof -sample_index=alloc_objects -list '^post$' ../one.profile/heap.pb.gz 2>/dev/null)
expect_match "$listed" "ROUTINE =+ post in $TMP/own/ledger.cht" "pprof -list"
expect_match "$listed" '1010 +1010 +6: +entry = Entry\{ amount: amount, at: i \} @multiowned;' "a line of pprof -list"

# ---- dumps beside a binary: its debug information, and the copies that the directory keeps
mkdir app && cp "$ROOT/fixtures/ledger.cht" app/ledger.cht
(cd app && "$toy" --flags=-no-pie --to transpiled.zig -o ledger ledger.cht) || fail "building app"
mkdir app/ledger.profile
start=$(nm app/ledger | awk '$3 == "post" { print "0x" $1 }')
size=$(nm -S app/ledger | awk '$4 == "post" { print "0x" $2 }')
printf '# alloc-profile v2\n' >app/ledger.profile/alloc.txt
for ((at = start; at < start + size; at += 3)); do printf '0x%x 1 8 0 0 8\n' "$at"; done >>app/ledger.profile/alloc.txt
mv app/transpiled.zig app/ledger.profile/
mv app/ledger.cht app/ledger.profile/source.cht
echo "# another version" >app/ledger.cht
"$CLEAR" ingest --db t.db --label dumps app/ledger.profile >/dev/null || fail "ingesting app"
run=$(sql t.db "SELECT max(id) FROM runs")
expect_mapped app/ledger app/ledger.profile/transpiled.zig "$TMP/app/ledger.cht" "$run"
expect_equal "$(sql t.db "SELECT hex(text) FROM sources JOIN source_texts ON source_texts.id = text_id WHERE run_id = $run AND role = 'source'")" \
    "$(od -An -v -tx1 app/ledger.profile/source.cht | tr -d ' \n' | tr a-f A-F)" "the source that was kept"
expect_equal "$(sql t.db "SELECT task_sites.kind, line, column FROM task_sites JOIN profiles ON profiles.id = profile_id WHERE run_id = $run ORDER BY line")" \
    $'BG|18|11\nBG|19|12' "task sites"
# A single file of the directory is mapped by the same copies.
"$CLEAR" ingest --db t.db app/ledger.profile/alloc.txt >/dev/null || fail "ingesting app's alloc.txt"
expect_mapped app/ledger app/ledger.profile/transpiled.zig "$TMP/app/ledger.cht" "$(sql t.db "SELECT max(id) FROM runs")"

# ---- perf's samples are mapped too
cat >spin.cht <<'CHT'
FN spin(times: Int64) RETURNS !Void ->
  FOR i IN 0..times ->
    BURN 1000 + i;
  END
END
FN main() RETURNS !Void ->
  spin(20000);
END
CHT
"$toy" --to ._clear_tmp_spin.zig -o spin spin.cht || fail "building spin"
if perf_records cpu-clock:u && perf record -q -o perf.data -e cpu-clock:u -F 499 -g ./spin >/dev/null 2>&1; then
    "$CLEAR" ingest --db t.db perf.data >/dev/null || fail "ingesting perf.data"
    run=$(sql t.db "SELECT max(id) FROM runs")
    expect_equal "$(sql t.db "SELECT DISTINCT frames.function, frames.file, frames.line FROM cpu_use JOIN frames USING (trace_id) WHERE run_id = $run
        AND (frames.function = 'main' OR frames.function = 'spin' AND frames.line = 3) ORDER BY 1")" \
        "main|$TMP/spin.cht|7"$'\n'"spin|$TMP/spin.cht|3" "main in perf's samples"
    expect_equal "$(sql t.db "SELECT path FROM sources WHERE run_id = $run AND role = 'source'")" "$TMP/spin.cht" "sources of perf.data"
    # In a run directory, by the copies that it keeps.
    mkdir spin.profile && mv perf.data spin.profile/ && mv ._clear_tmp_spin.zig spin.profile/transpiled.zig && cp spin.cht spin.profile/source.cht
    echo '# edited' >>spin.cht
    "$CLEAR" ingest --db again.db spin.profile >/dev/null || fail "ingesting spin.profile"
    expect_equal "$(sql again.db "SELECT DISTINCT frames.file, frames.line FROM cpu_use JOIN frames USING (trace_id) WHERE frames.function = 'main'")" \
        "$TMP/spin.cht|7" "main in perf's samples of a run directory"
    expect_equal "$(sql again.db "SELECT count(*), sum(text LIKE '%edited%') FROM source_texts")" "2|0" "the texts that it keeps"
    expect_equal "$(sql again.db "SELECT path, role FROM sources ORDER BY role")" \
        "$TMP/spin.cht|source"$'\n'"$TMP/._clear_tmp_spin.zig|transpiled" "where it has them from"
fi
check_db t.db
