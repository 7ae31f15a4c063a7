# OpenTelemetry's profiles: a profile of pprof comes back from them as it was; what came in as OTLP goes out the same, by a client that protoc
# made of the fields of the format, with everything in it at random; bytes by hand; and of what is broken nothing is stored.
# timeout: 400 (under the sanitizers)
# leaks: a reader of foreign bytes
. "$(dirname "$0")/lib.sh"

mkdir pb && protoc -I "$ROOT/tests" --python_out=pb "$ROOT/tests/otlp.proto" || fail "protoc"
client() { /usr/bin/python3 "$ROOT/tests/otlp.py" pb "$@"; } # Debian's python3 has python3-protobuf
python3 "$ROOT/fixtures/make_otlp.py" hand || fail "make_otlp.py"
python3 "$ROOT/fixtures/make_profile.py" made good || fail "make_profile.py"

# pprof -> OTLP -> pprof: header, mappings, samples, comments. In the gate the sanitizers see a third of them; those of hand/good and at random are
# read and written again below.
count=0 sanitized=$CLEAR
for file in "$ROOT"/fixtures/corpus/pprof/*.pb.gz made/*.pb made/*.pb.gz; do
    rm -f a.db b.db
    [ $((count % 3)) = 0 ] && CLEAR=$sanitized || CLEAR=$PLAIN_CLEAR
    "$PLAIN_CLEAR" ingest -q --db a.db "$file" || fail "ingest $file"
    "$CLEAR" export --db a.db --format otlp -o a.otlp || fail "export of $file"
    "$CLEAR" ingest -q --db b.db a.otlp || fail "ingest of $file as OTLP"
    expect_equal "$(sql b.db 'SELECT kind FROM profiles')" "$(sql a.db 'SELECT kind FROM profiles')" "kind of $file"
    "$PLAIN_CLEAR" export --db b.db --kind "$(sql b.db 'SELECT kind FROM profiles')" -o b.pb.gz || fail "export as pprof of $file"
    python3 "$ROOT/tests/profile_diff.py" --comments "$file" b.pb.gz || fail "$file is another one"
    "$CLEAR" export --db b.db --format otlp -o b.otlp || fail "export again of $file"
    client compare a.otlp b.otlp || fail "OTLP of $file is another one"
    count=$((count + 1))
done
expect_equal "$count" 21 "profiles compared"
CLEAR=$sanitized

# OTLP -> warehouse -> OTLP.
again() { # again FILE
    rm -f c.db
    "$CLEAR" ingest -q --db c.db "$1" || fail "ingest $1"
    "$CLEAR" export --db c.db --format otlp -o c.otlp || fail "export of $1"
    client compare "$1" c.otlp || fail "$1 is another one"
}
for file in hand/good/*; do
    cmp "$file" "$ROOT/fixtures/corpus/otlp/${file##*/}" || fail "$file is not what is in the corpus"
    again "$file"
    check_db c.db
done
for seed in $(seq 20 | a_third 1 0); do
    client make $seed random.otlp || fail "make $seed"
    again random.otlp
done

# What is in the tables.
rm -f t.db
"$CLEAR" ingest -q --db t.db hand/good/links.otlp || fail links
expect_equal "$(sql t.db 'SELECT kind, started_ns, command, host FROM runs JOIN profiles ON run_id = runs.id')" 'cpu|1700000000000000000|shop|h1' 'the run'
expect_equal "$(sql t.db 'SELECT key, value FROM tags ORDER BY key')" "host.name|h1
service.name|shop" 'tags'
"$CLEAR" query --db t.db --format csv @spans >spans.csv || fail '@spans'
expect_match "$(tr -d '\r' <spans.csv)" '000102030405060708090a0b0c0d0e0f,0001020304050607,cpu,0x402000|server\+.*,cpu_ns,70707070' 'samples of a span'
expect_equal "$("$CLEAR" query --db t.db --format csv "SELECT sum(samples) FROM cpu JOIN label_sets ON label_sets.id = label_set_id
    JOIN json_each(labels) AS label ON label.value ->> 0 = 'trace_id' WHERE label.value ->> 1 = '000102030405060708090a0b0c0d0e0f'" | tail -1 | tr -d '\r')" 12 'values that have the link'
expect_equal "$("$CLEAR" query --db t.db --format csv @spans trace=ff% | wc -l)" 1 'of another trace'
# As eBPF profilers send them: samples alone, each of which is a period of CPU time.
expect_equal "$(sql t.db 'SELECT sum(samples), sum(cpu_ns), period FROM cpu JOIN profiles ON profiles.id = profile_id')" "13|$((13 * 10101010))|10101010" 'CPU time'
expect_match "$("$CLEAR" doctor --db t.db 2>/dev/null)" '131.3 ms of CPU time' 'what the doctor judges'
rm -f t.db
"$CLEAR" ingest -q --db t.db hand/good/several.otlp || fail several
expect_equal "$("$CLEAR" report tags --db t.db --kind cpu 2>/dev/null | grep -c 'otlp.profile')" 1 'the parts of a kind'
gzip -k hand/good/plain.otlp && "$CLEAR" ingest -q --db t.db hand/good/plain.otlp.gz || fail 'gzip'
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" 2 'runs'

# What is kept beside a profile is in no report.
"$CLEAR" report top --db t.db >top.txt 2>/dev/null || fail top
expect_equal "$(grep -c '^File: server' top.txt) $(grep -c 'otlp:' top.txt)" '1 0' 'a report, and lines that are for clear export'

# A run that clear recorded: all kinds in one file, each as it is.
rm -f r.db s.db
"$PLAIN_CLEAR" profile -q --no-files --db r.db "$FIXTURES/own_locks" >/dev/null || fail 'own_locks'
"$CLEAR" export --db r.db --format otlp -o r.otlp || fail 'export of a recording'
"$CLEAR" ingest -q --db s.db r.otlp || fail 'ingest of a recording'
for kind in heap lock; do
    "$PLAIN_CLEAR" export --db r.db --kind $kind -o a.pb.gz && "$PLAIN_CLEAR" export --db s.db --kind $kind -o b.pb.gz || fail "export of $kind"
    python3 "$ROOT/tests/profile_diff.py" --nonzero --used a.pb.gz b.pb.gz || fail "$kind is another one"
done
"$CLEAR" export --db r.db --kind heap --format otlp -o h.otlp && "$CLEAR" ingest -q --db h.db h.otlp || fail 'one kind'
expect_equal "$(sql h.db 'SELECT group_concat(kind) FROM profiles')" heap 'the kind that was asked for'
"$CLEAR" export --db r.db --format otlp --base 1 -o d.otlp 1 && "$CLEAR" ingest -q --db d.db d.otlp || fail 'a base'
expect_equal "$(sql d.db 'SELECT count(*) > 0, sum(alloc_bytes) FROM heap')" '1|0' 'what a run less itself has allocated'
printf 'a;b 3\n' >other.folded && "$CLEAR" ingest -q --db r.db hand/good/typed.otlp other.folded || fail 'two runs of one kind each'
expect_status 2 "$CLEAR" export --db r.db --format otlp -o x.otlp 2 3 2>err.txt
expect_match "$(cat err.txt)" 'no one kind of profile is in all of these runs: export each by itself' 'runs without a kind in common'
expect_status 2 "$CLEAR" export --db r.db --format otlp --focus main -o x.otlp 2>err.txt
expect_match "$(cat err.txt)" 'focus is not an option of otlp' 'a filter'

# Broken ones: each is refused with file and place, and leaves nothing.
for file in hand/good/*; do "$PLAIN_CLEAR" ingest -q --db bad.db "$file" || fail "$file"; done
sqlite3 bad.db .dump >before.sql
expect_status 1 "$CLEAR" ingest --db bad.db hand/hostile >out.txt 2>err.txt
sqlite3 bad.db .dump >after.sql
expect_same_file after.sql before.sql 'the warehouse after broken files'
expect_equal "$(grep -c '^clear: hand/hostile/[a-z0-9_]*\.otlp: byte [0-9]*: ' err.txt)" "$(find hand/hostile -type f | wc -l)" 'lines with file and place'
says() { expect_match "$(grep "^clear: hand/hostile/$1.otlp:" err.txt)" "$2" "$1"; }
says stack_index 'byte 78: profile 1, sample 2: stack_index 99: stack_table has 3 elements; .* have the file written again$'
says negative_stack_index 'stack_index -1: stack_table has 3 elements'
says lengths 'profile 1, sample 2: 3 values and 2 timestamps: '
says no_stack_table "the dictionary's stack_table is empty: its element 0 must be there"
says no_zero_string_table "element 0 of the dictionary's string_table is not the zero value"
says trace_id 'a trace_id of 5 bytes: it must have 16$'
says cut_0099 'the message is truncated in a field'
says deep 'lists in lists, deeper than 32$'
