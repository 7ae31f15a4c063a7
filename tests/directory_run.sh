# run.txt.gz of a run's directory has all rows of the run: read back into another warehouse it is the same run, with the same findings and exports.
# Which diagnosis says what of such a run is in unit_doctor, where the runs of every case are read back.
# build: plain
. "$(dirname "$0")/lib.sh"
cat >work.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile kept;
static void *work(void *none) {
    for (int i = 0; i < 2000; i++) free(kept = malloc(24)); /* temporary blocks */
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return none;
}
int main(void) {
    pthread_t thread;
    int file = open("/dev/null", O_WRONLY);
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, work, NULL);
    usleep(20000); /* the thread waits */
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    for (int i = 0; i < 300; i++) kept = malloc(1000); /* lost */
    for (int i = 0; i < 2000; i++)
        if (write(file, "x", 1) != 1) return 1; /* small calls */
    return 0;
}
C
${CC:-cc} -g -O0 -pthread -o work work.c || fail work.c
findings() { # RUN OPTION...: each with all its figures; where the run is and its number are another's
    "$CLEAR" doctor --json "$@" | python3 -c 'import json, sys
for finding in json.load(sys.stdin):
    print(json.dumps({key: value for key, value in finding.items() if key not in ("run_id", "trace_ids", "sql")}, sort_keys=True))'
}
round() { # NAME OPTION...: records, reads the directory back, and compares
    local name=$1
    shift
    "$CLEAR" profile -q --db $name.db -o $name.profile "$@" ./work || fail "recording $name"
    "$CLEAR" ingest -q --db back.db $name.profile || fail "reading $name"
    run=$(sql back.db "SELECT max(id) FROM runs")
    findings latest --db $name.db >want.txt && findings "$run" --db back.db >got.txt && findings ./$name.profile >file.txt || fail "doctor of $name"
    [ -s want.txt ] || fail "$name has no findings"
    cmp -s want.txt got.txt || fail "$name, ingested: $(diff want.txt got.txt)"
    cmp -s want.txt file.txt || fail "$name, as a file: $(diff want.txt file.txt)"
    rm -rf back.profile && "$CLEAR" export -q --db back.db "$run" -o back.profile/ 2>/dev/null || "$CLEAR" export --db back.db "$run" -o back.profile/ || fail "export of $name"
    diff -r $name.profile back.profile >diff.txt || fail "$name came in and goes out as another one: $(head -5 diff.txt)"
}
round whole --label 'a tab	and \N' --tag commit=1a2b3c --interval=0.01
round sampled --sample=64KiB
round events --trace --leaks --lifetimes
expect_match "$(cat want.txt)" '"code": "leak"' "findings of a run with events"
expect_equal "$(sql back.db "SELECT count(*) > 0 FROM events")" 1 "events" # the thread's end, whether or not it came in time to wait
expect_equal "$(sql back.db "SELECT source, content_hash IS NULL, label, command FROM runs WHERE id = 1")" 'profile|1|a tab	and \N|./work' "the run that came back"
expect_equal "$(sql back.db "SELECT run_id, key, value FROM tags")" '1|commit|1a2b3c' "its tags"
check_db back.db

# ---- it is the run itself, which a warehouse has once; what is said of it when it is read holds
expect_match "$("$CLEAR" ingest --db back.db whole.profile 2>/dev/null)" '^whole.profile: already in the warehouse as run 1$' "the directory again"
expect_match "$("$CLEAR" ingest --db whole.db whole.profile 2>/dev/null)" '^whole.profile: already in the warehouse as run 1$' "the directory of a run that is here"
"$CLEAR" ingest -q --db said.db --label mine --tag commit=2 --tag branch=x --time @1000 whole.profile || fail "with a label, tags and a time"
expect_equal "$(sql said.db "SELECT label, started_ns, (SELECT group_concat(key || '=' || value) FROM (SELECT * FROM tags ORDER BY key)),
    (SELECT min(started_ns) BETWEEN 1000000000000 AND 1010000000000 FROM processes), (SELECT min(time_ns) BETWEEN 1000000000000 AND 1010000000000 FROM profiles) FROM runs")" \
    'mine|1000000000000|branch=x,commit=2|1|1' "what was said"
"$CLEAR" doctor whole.profile/run.txt.gz >/dev/null || fail "the file by itself"
expect_match "$("$CLEAR" doctor ./whole.profile)" "clear ingest ./whole.profile " "the commands at the end of clear doctor"
gunzip <whole.profile/run.txt.gz >run.txt
"$CLEAR" ingest -q --db plain.db run.txt || fail "without gzip"
expect_equal "$(gunzip <whole.profile/heap.pb.gz | cksum)" "$("$CLEAR" export --db plain.db --kind heap -o - 2>/dev/null | gunzip | cksum)" "heap of the text"

# ---- a copy of a run that was not over makes way for the whole, and not the other way round
cp whole.db part.db && sql part.db "UPDATE runs SET flags = 'unfinished'; DELETE FROM seals; DELETE FROM locks"
"$CLEAR" export --db part.db 1 -o part.profile/ || fail "export of an unfinished run"
"$CLEAR" ingest -q --db copies.db part.profile || fail "an unfinished copy"
expect_equal "$(sql copies.db "SELECT flags, (SELECT count(*) FROM locks) FROM runs")" 'unfinished|0' "the copy"
expect_match "$("$CLEAR" ingest --db copies.db whole.profile 2>/dev/null)" '^whole.profile: run [0-9]+, clear-profile, ' "the whole run"
expect_match "$("$CLEAR" ingest --db copies.db part.profile 2>/dev/null)" '^part.profile: already in the warehouse as run [0-9]+$' "the copy again"
expect_equal "$(sql copies.db "SELECT count(*), max(flags), (SELECT count(*) > 0 FROM locks) FROM runs")" '1||1' "what is kept"
check_db copies.db

# ---- a snapshot of a process is not a run
expect_status 0 "$CLEAR" ingest -q --db snapshots.db --cumulative whole.profile
expect_equal "$(sql snapshots.db "SELECT flags, content_hash IS NOT NULL FROM runs")" 'cumulative|1' "a directory as a snapshot"

# ---- what a newer clear adds is passed over, and what an older one lacks has the default of the schema
awk -F '\t' -v OFS='\t' '$1 == "# table: io" { for (i = 2; i <= NF; i++) if ($i == "errors") gone = i }
    /^# table: runs/ { print $0, "colour"; next } $1 == "runs" { print $0, "red"; next }
    $1 == "# table: io" || $1 == "io" { $gone = ""; sub(/\t\t/, "\t") }
    /^# end: / { print "# table: stars\tid\tname"; print "stars\t1\tSirius"; sub(/.*/, "# end: " substr($0, 8) + 1) } { print }' run.txt >other.txt
grep -q '^stars' other.txt && ! grep -q '^# table: io.*errors' other.txt || fail "other.txt: $(grep '^# table: io' other.txt)"
"$CLEAR" ingest -q --db other.db other.txt || fail "a file of another clear"
expect_equal "$(sql other.db "SELECT sum(calls), sum(errors) FROM io")" "$(sql whole.db "SELECT sum(calls), 0 FROM io")" "calls of a file of another clear"

# ---- damaged: one line says where, and nothing is stored
"$CLEAR" ingest -q --db bad.db sampled.profile || fail "sampled.profile"
before=$(sql bad.db "SELECT count(*) FROM runs; SELECT count(*) FROM functions; SELECT count(*) FROM traces")
damaged() { # MESSAGE: of bad.txt
    expect_status 1 "$CLEAR" ingest -q --db bad.db bad.txt 2>err.txt
    expect_match "$(cat err.txt)" "$1" "$1"
    [ "$(wc -l <err.txt)" = 1 ] || fail "several lines: $(cat err.txt)"
}
head -n 20 run.txt >bad.txt
damaged '^clear: bad.txt:[0-9]+: the end is missing: the file was cut$'
sed '$s/.*/# end: 7/' run.txt >bad.txt
damaged 'is not how many rows there were$'
(cat run.txt && echo traces) >bad.txt
damaged 'expected nothing behind the end$'
sed '0,/^functions\t[^\t]*/s//&\tmore/' run.txt >bad.txt
damaged 'expected no further column$'
sed '0,/^functions\t[^\t]*\t[^\t]*/s//functions\t1/' run.txt >bad.txt
damaged 'expected more columns$'
sed '0,/^functions\t1\t[^\t]*/s//functions\t1\ta\\qb/' run.txt >bad.txt
damaged 'expected \\\\, \\t, \\n, \\r or \\N$'
sed '0,/^functions/s//planets/' run.txt >bad.txt
damaged 'expected a table that was told before$'
sed '0,/^# table: functions/s//&\tid\n&/' run.txt >bad.txt
damaged 'a table that was told before$'
sed '0,/^traces\t1\t.*/s//traces\t1\t[1,99999]/' run.txt >bad.txt
damaged 'is damaged: there is no row 99999 in locations'
sed '0,/^traces\t1\t.*/s//traces\t1\tnone/' run.txt >bad.txt
damaged 'is damaged: no list of ids: none'
sed '/^runs\t/d; $s/.*/# end: '"$(($(sed -n '$s/# end: //p' run.txt) - 1))/" run.txt >bad.txt
damaged '^clear: bad.txt: expected the rows of one run$'
sed '0,/^functions\t2\t/s//functions\t1\t/' run.txt >bad.txt
damaged 'bad.txt:[0-9]+: .*UNIQUE constraint failed: functions.id'
expect_equal "$(sql bad.db "SELECT count(*) FROM runs; SELECT count(*) FROM functions; SELECT count(*) FROM traces")" "$before" "what damaged files left"
cp -r whole.profile bad.profile && head -c 300 whole.profile/run.txt.gz >bad.profile/run.txt.gz
expect_status 1 "$CLEAR" ingest -q --db bad.db bad.profile 2>err.txt
expect_match "$(cat err.txt)" 'bad.profile/run.txt.gz: ' "a truncated file of a directory"
echo 'main;work 1' >bad.profile/run.txt.gz
expect_status 1 "$CLEAR" ingest -q --db bad.db bad.profile 2>err.txt
expect_match "$(cat err.txt)" 'bad.profile/run.txt.gz: byte 0: is not the rows of a run$' "another file of that name"
ln -sf "$TMP/run.txt" bad.profile/run.txt.gz
expect_status 1 "$CLEAR" ingest -q --db bad.db bad.profile 2>err.txt
expect_match "$(cat err.txt)" 'run.txt.gz: is a symbolic link' "a link"
