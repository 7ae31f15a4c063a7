# shellcheck shell=bash
# perf.data: every sample of `perf script` with its full chain, in recordings of other machines and in ones made here.
# timeout: 600
. "$(dirname "$0")/lib.sh"
corpus=$ROOT/fixtures/corpus/perf
export HOME=$TMP # perf keeps copies of what it meets below it
db=$TMP/t.db

newest() { sql "$db" 'SELECT max(id) FROM runs'; }
samples() { # of the newest run
    sql "$db" "SELECT coalesce(sum(samples), 0) FROM
               (SELECT profile_id, samples FROM cpu UNION ALL SELECT profile_id, v0 FROM samples)
               JOIN profiles ON profiles.id = profile_id WHERE run_id = (SELECT max(id) FROM runs)"
}
same_as_script() { # same_as_script SCRIPT [EVENT]
    python3 "$ROOT/tests/perf_script_diff.py" "$1" "$db" "$(newest)" "${@:2}" || fail "the newest run is not as $1"
}

# ---- recordings of other machines: counts by `perf report -D`
while read -r file count; do
    "$CLEAR" ingest --db "$db" "$corpus/$file" || fail "ingest $file"
    expect_equal "$(samples)" "$count" "samples of $file"
done <<'END'
sqlite3-fp.perf.data 426
perf.data.branch-4.14 13
perf.data.group_desc-4.14 13
perf.data.hybrid_topology 7
perf.data.piped.header_features_aligned-6.12 9
perf.data.piped.no_attr_ids-4.14 7
perf.data.singleprocess-3.8 13
perf.data.callgraph-3.8 1768
perf.data.piped.lost_samples-4.4 191
END
expect_equal "$(sql "$db" 'SELECT kind, dropped FROM profiles WHERE run_id = (SELECT max(id) FROM runs) ORDER BY id')" \
    $'cycles|0\ninstructions|1\nbranches|1' 'lost events'
expect_equal "$(sql "$db" "SELECT command, host FROM runs WHERE source LIKE '%singleprocess%'")" \
    '/usr/sbin/perf record -o perf.data.singleprocess.next -- echo|localhost' 'command line and host'

before=$(sql "$db" .dump | sha256sum)
expect_status 1 "$CLEAR" ingest --db "$db" "$corpus/perf.data.piped.corrupted.zero_size_sample-3.2" 2>corrupted.err
expect_match "$(cat corrupted.err)" 'zero_size_sample-3.2: byte 49104: a record of 0 bytes' 'the message'
expect_equal "$(sql "$db" .dump | sha256sum)" "$before" 'the warehouse after a failure'
"$CLEAR" ingest --lenient --db "$db" "$corpus/perf.data.piped.corrupted.zero_size_sample-3.2" || fail 'lenient'

cp "$corpus/sqlite3-fp.perf.data" again.data
rm "$db"
"$CLEAR" ingest --db "$db" again.data || fail 'again.data'
# Names of a library that has another build ID here are left alone, by perf and by us.
others=$(perf buildid-list -i again.data | while read -r id file; do
    [ ! -f "$file" ] || [ "$(readelf -n "$file" | sed -n 's/.*Build ID: //p')" = "$id" ] || printf '%s:' "$file"
done)
OTHER_FILES=$others same_as_script "$corpus/sqlite3-fp.script.txt.gz"

# A whole machine of another owner: the idle task, kernel threads and modules, whose addresses count from where each was loaded.
perf script -f --no-inline --show-mmap-events -i "$corpus/perf.data.callgraph-3.8" >machine.txt 2>/dev/null
"$CLEAR" ingest --db "$db" "$corpus/perf.data.callgraph-3.8" || fail 'the whole machine'
KERNEL_START=$(sed -n 's/.* @ 0x\([0-9a-f]*\)\]: x \[kernel.kallsyms\].*/\1/p' machine.txt) same_as_script machine.txt

# ---- recordings made here, of nothing but what is started here
perf_records cpu-clock:u || skip "perf may not record here: $(tail -n 1 perf-probe.txt)"
user= # without a right to see the kernel, its side is left out on both
[ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 1 ] || [ "$(id -u)" = 0 ] || user=:u
KERNEL_START=$(awk '$3 == "_text" { print $1; exit }' /proc/kallsyms)
export KERNEL_START

work() { head -n 3 "$ROOT/fixtures/work.sql" | sed 's/400000/100000/'; } # 120 samples at 999 Hz
record() { # record NAME OPTIONS...: a recording of sqlite3 at work; what perf script says of it
    local name=$1
    shift
    work | perf record -q -o "$name.data" "$@" sqlite3 :memory: >/dev/null 2>"$name.err" || fail "perf record $*: $(cat "$name.err")"
    perf script --no-inline --show-mmap-events -i "$name.data" >"$name.txt" 2>/dev/null || fail "perf script of $name"
    "$CLEAR" ingest --db "$db" "$name.data" || fail "ingest $name"
}

record frames -e "cpu-clock$user" -F 999 -g
same_as_script frames.txt
expect_match "$(sql "$db" "SELECT command FROM runs WHERE id = $(newest)")" 'perf record .* sqlite3 :memory:$' 'the command'

record flat -e "cpu-clock$user" -F 999
perf script --show-mmap-events -i flat.data >flat.txt 2>/dev/null
same_as_script flat.txt

# C++: what perf demangles, in the program and in the linkage table, through which it calls a library all the time. The program
# is gone when its recording is read: perf has kept a copy of it.
cat >library.cc <<'CC'
namespace counters {
template <typename T> struct counter { T total = 0; void add(const T &value); void take(const T &value); };
template <typename T> void counter<T>::add(const T &value) { total += value; }
template <typename T> void counter<T>::take(const T &value) { total -= value; }
template struct counter<long>;
}
CC
cat >program.cc <<'CC'
#include <cstdio>
namespace counters {
template <typename T> struct counter { T total = 0; void add(const T &value); void take(const T &value); };
}
__attribute__((noinline)) long count(counters::counter<long> &counter, long times) {
    for (long i = 0; i < times; i++) counter.add(i), counter.take(i);
    return counter.total;
}
int main() { counters::counter<long> counter; printf("%ld\n", count(counter, 30000000)); }
CC
g++ -O1 -fPIC -fno-omit-frame-pointer -shared -o liblibrary.so library.cc || fail 'no library in C++'
g++ -O1 -fno-omit-frame-pointer -fno-inline -o program program.cc -L. -llibrary -Wl,-rpath,"$TMP" || fail 'no program in C++'
perf record -q -o cxx.data -e "cpu-clock$user" -F 999 -g ./program >/dev/null 2>cxx.err || fail "perf record of C++: $(cat cxx.err)"
perf script --no-inline --show-mmap-events -i cxx.data >cxx.txt 2>/dev/null
expect_between "$(grep -c 'counters::counter<long>::[a-z]*\((long const&)\)*@plt+' cxx.txt)" 1 100000 'samples in the linkage table'
"$CLEAR" ingest --db "$db" cxx.data || fail 'ingest of C++'
same_as_script cxx.txt
rm program
"$CLEAR" ingest --db gone.db cxx.data || fail 'ingest of a program that is gone'
expect_equal "$(sql gone.db "SELECT name FROM functions WHERE system_name = '_Z5countRN8counters7counterIlEEl'")" \
    "$(sed -n 's/^[^:]*\(count\)\((.*)\)*+0x.*program)$/\1/p' cxx.txt | sort -u)" 'the name of a function of a program that is gone'
expect_equal "$(sql gone.db "SELECT count(*) FROM functions WHERE name LIKE '\_Z%' ESCAPE '\'")" 0 'names that stay mangled'

# Programs that run already: perf makes up what happened before.
"$FIXTURES/cpu_burn" threads 2000 >/dev/null & first=$!
"$FIXTURES/cpu_burn" fork 2000 >/dev/null & second=$!
perf record -q -o attached.data -p "$first,$second" -e "cpu-clock$user" -F 499 -g -- sleep 0.3 2>attached.err || fail "perf record -p: $(cat attached.err)"
kill "$first" "$second" 2>/dev/null
perf script --no-inline --show-mmap-events -i attached.data >attached.txt 2>/dev/null
"$CLEAR" ingest --db "$db" attached.data || fail 'ingest of what ran already'
same_as_script attached.txt

record compressed -z -e "cpu-clock$user" -F 4999 -g
same_as_script compressed.txt

record buildids --buildid-mmap -e "cpu-clock$user" -F 499 -g
same_as_script buildids.txt
expect_equal "$(sql "$db" "SELECT count(*) FROM profiles, json_each(profiles.mappings) AS used
                           JOIN mappings ON mappings.id = used.value
                           WHERE run_id = $(newest) AND filename LIKE '/%' AND build_id = ''")" 0 'files without a build id'

export DWARF=1
record dwarf -e "cpu-clock$user" -F 499 --call-graph dwarf
same_as_script dwarf.txt
unset DWARF

record events -e "cpu-clock$user,page-faults$user" -F 999 -g
same_as_script events.txt "cpu-clock$user"
same_as_script events.txt "page-faults$user"
expect_equal "$(sql "$db" "SELECT kind, sample_types FROM profiles WHERE run_id = $(newest) ORDER BY id")" \
    'cpu|[["samples","count"],["cpu","nanoseconds"]]
page-faults|[["samples","count"],["page-faults","count"]]' 'one profile an event'

record group -e "{cpu-clock$user,page-faults$user}:S" -F 999 -g
expect_equal "$(sql "$db" "SELECT sum(cpu_ns) FROM cpu JOIN profiles ON profiles.id = profile_id WHERE run_id = $(newest)")" \
    "$(perf script -i group.data -F event,period 2>/dev/null | awk '/cpu-clock/ { sum += $1 } END { printf "%d", sum }')" \
    'nanoseconds of a group, read at each sample'

# A pipe says events, features and build ids in records of its own. (The work prints nothing into it.)
work | perf record -q -o - -e "cpu-clock$user" -F 999 -g sqlite3 :memory: 2>/dev/null >pipe.out
perf script --no-inline --show-mmap-events -i pipe.out >pipe.txt 2>/dev/null && "$CLEAR" ingest --db "$db" - <pipe.out || fail 'ingest of a pipe'
same_as_script pipe.txt

# A recording of a file for each CPU says what to do; what perf makes of it is read.
if work | perf record -q -o threads.data --threads -e "cpu-clock$user" -F 999 -g sqlite3 :memory: >/dev/null 2>&1; then
    before=$(newest)
    expect_status 1 "$CLEAR" ingest -q --db "$db" threads.data/data 2>threads.err
    expect_match "$(cat threads.err)" 'threads.data/data: recorded with --threads, .*data\.0, .*perf inject' 'samples in other files'
    expect_equal "$(newest)" "$before" 'a run without its samples'
    perf inject -i threads.data -o one.data 2>/dev/null || fail 'perf inject'
    perf script --no-inline --show-mmap-events -i one.data/data >one.txt 2>/dev/null
    "$CLEAR" ingest --db "$db" one.data/data || fail 'one file made of them'
    same_as_script one.txt
fi

check_db "$db"
