# Several runs are judged as one: figures are sums, a fault that is small in each is one in all, and nothing is written.
# quick
. "$(dirname "$0")/lib.sh"

cat >small.c <<'PROGRAM'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t *make_lock(void) {
    pthread_mutex_t *lock = malloc(sizeof *lock);
    pthread_mutex_init(lock, NULL);
    return lock;
}

static void use(pthread_mutex_t *lock, int count) {
    for (int i = 0; i < count; i++) {
        pthread_mutex_lock(lock);
        pthread_mutex_unlock(lock);
    }
}

static void write_bytes(int fd, int count) {
    for (int i = 0; i < count; i++)
        if (write(fd, "x", 1) != 1) abort();
}

/* Two locks of one place, of which the second is used more. */
int main(int argc, char **argv) {
    pthread_mutex_t *locks[2];
    (void)argv;
    for (int i = 0; i < 2; i++)
        locks[i] = make_lock();
    use(locks[0] < locks[1] ? locks[0] : locks[1], 100);
    use(locks[0] < locks[1] ? locks[1] : locks[0], 300);
    write_bytes(open("/dev/null", O_WRONLY), 4000);
    return argc > 1 ? 3 : 0;
}
PROGRAM
"$CC" -g -O0 -o small small.c -lpthread || fail 'the program'
for i in 1 2 3; do
    "$PLAIN_CLEAR" profile -q --db t.db --tag ci=42 -- ./small >/dev/null 2>err.txt || fail "recording: $(cat err.txt)"
done
# What a call costs is not the subject.
sql t.db "UPDATE rules SET value = 0 WHERE name = 'io_tiny_time_percent'"
"$PLAIN_CLEAR" runs --db t.db >/dev/null
before=$(sha256sum <t.db; sql t.db .dump | sha256sum)

# figure CODE NAME RUNS...: that figure of the findings with this code; "CODE SEVERITY" for the name `severity`.
# The sanitizers look on at one of each number of runs; the other figures are of the same findings.
figure() {
    local code=$1 name=$2
    shift 2
    "$CLEAR" doctor --json "$@" >found.json 2>err.txt || fail "clear doctor $*: $(cat err.txt)"
    python3 -c '
import json, sys
rows = [row for row in json.load(open("found.json")) if row["code"] == sys.argv[1]]
print(*sorted(row["severity"] if sys.argv[2] == "severity" else row["evidence"][sys.argv[2]] for row in rows))' "$code" "$name"
}
for i in 1 2 3; do
    expect_equal "$(CLEAR=$PLAIN_CLEAR figure tiny-io calls --db t.db "$i")" '' "few small writes in run $i"
done
expect_equal "$(figure tiny-io calls --db t.db 1..3 --together)" 12000 'the small writes of three runs'
expect_equal "$(CLEAR=$PLAIN_CLEAR figure tiny-io time_percent --db t.db 1..3 --together)" \
    "$(sql t.db "SELECT CAST(round(100.0 * sum(time_ns) / (SELECT sum(duration_ns) FROM runs)) AS INTEGER) FROM io WHERE call = 'write'")" 'their share of all durations'
expect_equal "$(CLEAR=$PLAIN_CLEAR figure tiny-io severity --db t.db 1..3 --together)" warning 'their severity'
expect_equal "$(CLEAR=$PLAIN_CLEAR figure tiny-io calls --db t.db 1,3 --together)" '' 'the small writes of two runs'
expect_equal "$(figure ok acquires --db t.db 1..3 --together)" '300 900' 'two locks of a place, wherever they were in each run'
expect_equal "$(CLEAR=$PLAIN_CLEAR figure leak inuse_count --db t.db 1..3 --together)" 6 'their blocks'

# Each figure of the head is the sum.
"$CLEAR" doctor --db t.db tag:ci=42,last=3 --together >head.txt 2>err.txt || fail "clear doctor: $(cat err.txt)"
sed -i '1,/^$/d' head.txt # the verdict
expect_equal "$(head -1 head.txt)" 'runs 1 to 3 (3 runs), together: ./small' 'the first line'
expect_match "$(sed -n 2p head.txt)" 'from .* in all, exit 0, processes: 3$' 'the second line'
for what in allocation 'lock operation'; do
    if [ "$what" = allocation ]; then from='sum(alloc_count) FROM sites JOIN profiles ON profiles.id = profile_id'
    else from="sum(acquires + read_acquires) FROM locks JOIN profiles ON profiles.id = profile_id WHERE profiles.kind = 'lock'"; fi
    expect_equal "$(sed -n "s/^  \([0-9,]*\) ${what}s.*/\1/p" head.txt | tr -d ,)" "$(sql t.db "SELECT $from")" "${what}s"
done
expect_match "$(cat head.txt)" 'in process [0-9]+ of run [123] live at ' 'the peak of one process'
expect_match "$(tail -1 head.txt)" "WHERE run_id BETWEEN 1 AND 3'" 'the next command'
"$CLEAR" doctor --db t.db 1..3 --together --by=bytes >functions.txt || fail 'tables of functions'
if grep -q 'heap-peak by function' functions.txt; then fail 'peaks of several runs were added'; fi

# One run together is that run.
"$CLEAR" doctor --db t.db 2 --json >one.json
"$CLEAR" doctor --db t.db 2 --together --json >same.json
expect_same_file same.json one.json 'a set of one run'
expect_equal "$(sha256sum <t.db; sql t.db .dump | sha256sum)" "$before" 'the warehouse afterwards'

# It needs no file that can be written.
CLEAR=$PLAIN_CLEAR figure tiny-io calls --db t.db 1..3 --together >/dev/null
mv found.json want.json
mkdir still && cp t.db still/ && chmod 444 still/t.db && chmod 555 still
if [ "$(id -u)" = 0 ]; then reader=(setpriv --reuid=65534 --regid=65534 --clear-groups --); chmod 755 .; else reader=(); fi
chmod o+rx "$TMP" 2>/dev/null
if (cd still && "${reader[@]}" "$CLEAR" runs --db t.db >/dev/null 2>&1); then
    (cd still && "${reader[@]}" "$CLEAR" doctor --db t.db 1..3 --together --json) >found.json 2>err.txt || fail "a file that cannot be written: $(cat err.txt)"
    expect_same_file found.json want.json 'a file that cannot be written'
fi
chmod 755 still

# The same program at another path, and another end.
mkdir other && cp small other/
"$PLAIN_CLEAR" profile -q --db t.db -- other/small x >/dev/null 2>&1
expect_equal "$(CLEAR=$PLAIN_CLEAR figure tiny-io calls --db t.db 1..4 --together)" 16000 'a copy of the program'
expect_equal "$(CLEAR=$PLAIN_CLEAR figure leak inuse_count --db t.db 1..4 --together)" 8 'the stack of a copy of the program'
expect_equal "$(figure ok acquires --db t.db 1..4 --together)" '400 1200' 'locks of a copy of the program'
"$CLEAR" doctor --db t.db 1..4 --together | sed '1,/^$/d' >head.txt
expect_match "$(head -2 head.txt | tr '\n' ' ')" 'together: 2 commands .* exit 0 in 3 runs, exit 3 in 1, processes: 4' 'runs that ended in two ways'

# Files; but not with runs.
for i in 1 2 3; do
    "$PLAIN_CLEAR" export --db t.db --kind io -o "$i.pb.gz" "$i" 2>err.txt || fail "export: $(cat err.txt)"
done
"$CLEAR" doctor --db none.db 1.pb.gz,2.pb.gz,3.pb.gz --together >head.txt 2>err.txt || fail "files: $(cat err.txt)"
sed -i '1,/^$/d' head.txt
expect_equal "$(head -1 head.txt)" '3 runs (1.pb.gz,2.pb.gz,3.pb.gz), together: 3 files' 'the first line of files'
refuse() { # refuse REGEX ARGUMENTS...
    local want=$1
    shift
    expect_status 2 "$CLEAR" doctor --db t.db "$@" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$want" "clear doctor $*"
}
refuse 'not judged together: ingest' 1,./1.pb.gz --together
refuse '--together and --diff exclude' 1..3 --together --diff 2
refuse 'of one run' 1..3 --together --window 1
refuse 'of one run' 1..3 --together --from 1s
refuse 'needs the runs' --together
refuse 'no run' tag:ci=43 --together
"$CLEAR" ingest --db t.db 1.pb.gz >/dev/null 2>&1 || fail 'ingest'
refuse 'recorded and some ingested' 1..5 --together
check_db t.db
