# What is cut, flipped, endless, out of range or no profile at all: one line that names file and place, status 1, the
# warehouse untouched, and memory bounded.
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/fixtures/make_profile.py" made || fail "make_profile.py"
"$CLEAR" ingest -q --db t.db made/other_types.pb || fail "a good one"
sqlite3 t.db .dump >before.sql
count=$(find made/hostile -type f | wc -l)
[ "$count" -gt 1600 ] || fail "only $count broken files were made"

# Measured: 178 MB, of which the bombs of 100 and 256 MiB are the most. Under the sanitizers it says nothing.
python3 - "$CLEAR" <<'PY' || fail "exit status or memory"
import os, resource, subprocess, sys
done = subprocess.run([sys.argv[1], "ingest", "--db", "t.db", "made/hostile"], stdout=open("out.txt", "w"), stderr=open("err.txt", "w"))
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(f"status {done.returncode}, {peak} KB")
sys.exit(done.returncode != 1 or (peak > 300_000 and not os.environ.get("SANITIZED")))
PY
sqlite3 t.db .dump >after.sql
expect_same_file after.sql before.sql "the warehouse after broken files"
expect_equal "$(wc -l <err.txt)" "$count" "one line an error"
expect_match "$(tail -n 1 out.txt | tr -d ,)" "^$count files: 0 already known $count failed; 0 rows$" "the summary"
nameless=$(grep -Evc '^clear: made/hostile/[a-z0-9_.]+(: byte [0-9]+: |:[0-9]+(:[0-9]+)?: |: is empty$|: the sum of equal rows|: inflates to more than)' err.txt)
expect_equal "$nameless" 0 "errors without a place: $(grep -Ev '^clear: made/hostile/[a-z0-9_.]+(: byte [0-9]+: |:[0-9]+(:[0-9]+)?: |: is empty$|: the sum of equal rows|: inflates to more than)' err.txt | head -3)"

says() { expect_match "$(grep "^clear: made/hostile/$1:" err.txt)" "$2" "$1"; }
says no_location 'byte 8: there is no location with the id 9$'
says string_out_of_range 'string 99 of 2: the index is out of range$'
says number_of_65_bits 'a number of more than 64 bits$'
says invalid_utf8 'byte 21: string 2 is no valid UTF-8 text$'
says nul_byte 'byte 14: string 2 is no valid UTF-8 text$'
says gzip_garbage_behind 'expected another gzip member'
says folded_big_count 'folded_big_count:2:5: expected a whole number'
says folded_nul 'folded_nul:1002:3: '

# A gigabyte of zeros, and a sample of 10^9 varints (a zero is one, too, so the file has holes alone): read no further than needed.
truncate -s 1G zeros
python3 - <<'PY' || fail "varints"
from wire import varint
count = 10**9
head = b"\x0a\x04\x08\x01\x10\x01\x32\x00\x32\x01x" + b"\x12" + varint(1 + len(varint(count)) + count) + b"\x0a" + varint(count)
with open("varints", "wb") as out:
    out.write(head)
    out.truncate(len(head) + count)
PY
python3 - "$CLEAR" <<'PY' || fail "exit status, words or memory of the large ones"
import os, resource, subprocess, sys
done = subprocess.run([sys.argv[1], "ingest", "--db", "t.db", "zeros", "varints"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
peak, errors = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, done.stderr.decode().splitlines()
print(f"status {done.returncode}, {peak} KB, {errors}")
good = len(errors) == 2 and errors[0].startswith("clear: zeros: byte 0: no known format") and errors[1].startswith("clear: varints: byte 65560: too many entries")
sys.exit(done.returncode != 1 or not good or (peak > 60_000 and not os.environ.get("SANITIZED")))
PY
sqlite3 t.db .dump >after.sql
expect_same_file after.sql before.sql "the warehouse after the large ones"
rm zeros varints

# Every bit of a small profile, one after the other; in the gate (tests/run --suite) each seventh, in all bits of a byte. A flipped bit may make
# another good profile; it may not crash, and what is refused leaves nothing.
python3 - "$CLEAR" "$ROOT" <<'PY' || fail "flipped bits"
import os, sqlite3, subprocess, sys
good = open("made/every_field.pb", "rb").read()
os.mkdir("flips")
bits = range(0, len(good) * 8, 7 if os.environ.get("SANITIZED_CLEAR") else 1)
for bit in bits:
    broken = bytearray(good)
    broken[bit // 8] ^= 1 << bit % 8
    open(f"flips/{bit:05d}", "wb").write(broken)
done = subprocess.run([sys.argv[1], "ingest", "--db", "flips.db", "flips"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
errors = done.stderr.decode().splitlines()
runs, orphans = sqlite3.connect("flips.db").execute("SELECT (SELECT count(*) FROM runs), (SELECT count(*) FROM profiles WHERE run_id NOT IN (SELECT id FROM runs))").fetchone()
print(f"{len(bits)} flips: {runs} read, {len(errors)} refused, status {done.returncode}")
sys.exit(done.returncode != 1 or runs + len(errors) != len(bits) or orphans or len(errors) < len(bits) // 4)
PY
check_db flips.db

# Long lines and line ends of other systems are no errors.
python3 -c 'print(";".join(["f" * 1000] * 10000) + " 1")' >long.folded
printf 'a;b;c 1\r\n\r\na;b 2\r\n' >crlf.folded
"$CLEAR" ingest -q --db t.db long.folded crlf.folded || fail "a line of 10 MB, or CRLF"
expect_equal "$(sql t.db "SELECT stack, v0 FROM samples JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id
    JOIN stacks USING (trace_id) WHERE source = 'crlf.folded' ORDER BY v0")" "a;b;c|1
a;b|2" CRLF
expect_equal "$(sql t.db "SELECT json_array_length(stack) FROM traces ORDER BY 1 DESC LIMIT 1")" 10000 "frames of the long line"
check_db t.db
