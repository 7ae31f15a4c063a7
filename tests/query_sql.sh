#!/bin/bash
# clear query: formats read back by other programs, mistakes shown at their place, nothing but reading, limits.
. "$(dirname "$0")/lib.sh"
cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" | sqlite3 t.db || fail "making t.db"
"$CLEAR" runs --db t.db >/dev/null || fail "opening t.db"
export CLEAR_DB=t.db
all="SELECT 1 AS a, 'x,\"y' || char(13) || char(10) AS b, NULL AS c, 1.5 AS d, x'01ff' AS e, 'ü日本' AS f, '' AS g UNION ALL SELECT -9223372036854775808, char(27), 'NULL', 1e300 * 1e300, 2, 3, 4"

# What another reader gets back is what was put in.
"$CLEAR" query --format csv "$all" >all.csv || fail "csv"
"$CLEAR" query --json "$all" >all.json || fail "json"
"$CLEAR" query --format jsonl "$all" >all.jsonl || fail "jsonl"
python3 - <<'PYTHON' || fail "formats"
import csv, json
rows = list(csv.reader(open("all.csv", newline="")))
assert rows == [list("abcdefg"), ["1", 'x,"y\r\n', "", "1.5", "01ff", "ü日本", ""],
                ["-9223372036854775808", "\x1b", "NULL", "Inf", "2", "3", "4"]], rows
assert open("all.csv", "rb").read().count(b"\r\n") == 4
want = [{"a": 1, "b": 'x,"y\r\n', "c": None, "d": 1.5, "e": "01ff", "f": "ü日本", "g": ""},
        {"a": -9223372036854775808, "b": "\x1b", "c": "NULL", "d": None, "e": 2, "f": 3, "g": 4}]
assert json.load(open("all.json")) == want
assert [json.loads(line) for line in open("all.jsonl")] == want
PYTHON
# Markdown: GitHub's rules for tables; what would mean something in it is escaped, so nothing vanishes.
"$CLEAR" query --format markdown "SELECT 'std::vector<int> a|b' AS alloc_bytes, 1500 AS n, NULL AS \"*\" UNION ALL SELECT 'x_y __z & \`' || char(10) || '[w]', 2.5, x'01ff'" >all.md || fail "markdown"
printf '%s\n' '| alloc_bytes | n | \* |' '| --- | ---: | --- |' \
    '| std::vector&lt;int> a\|b | 1500 | NULL |' '| x_y \_\_z &amp; \`<br>\[w\] | 2.5 | x'"'01ff'"' |' >want
expect_same_file all.md want "markdown"
expect_equal "$("$CLEAR" query --format markdown --human "SELECT 2048 AS alloc_bytes" | tail -1)" "| 2.0 KiB |" "markdown --human"
expect_equal "$("$CLEAR" query --format markdown "SELECT 1 AS a, 2 AS b WHERE 0")" "| a | b |
| --- | --- |" "markdown without rows"
expect_equal "$("$CLEAR" query --json "SELECT 1 WHERE 0")" "[]" "json without rows"
expect_equal "$("$CLEAR" query --format csv --no-header "SELECT 1, 2")" "$(printf '1,2\r')" "csv without header"

# Aligned by what a terminal shows, numbers to the right, no trailing blanks, no control characters.
"$CLEAR" query "SELECT 'ü日本' AS name, 5 AS n UNION ALL SELECT 'a' || char(10), 12345" >table
printf '%s\n' 'name       n' '-----  -----' 'ü日本      5' 'a\n    12345' >want
expect_same_file table want "table"
! "$CLEAR" query "SELECT 'long', '' UNION ALL SELECT '', ''" | grep -q ' $' || fail "trailing blanks"
expect_equal "$("$CLEAR" query --no-header --human "SELECT 1500000 AS alloc_bytes, 2500000 AS wait_ns, 12345 AS n, 12345 AS run_id")" \
    "1.4 MiB  2.5 ms  12,345  12345" "--human"

cp t.db before.db
refused() { # refused REGEX SQL [ARGUMENTS...]: status 2, the message fits, the file is as before
    local regex=$1 got=0
    shift
    "$CLEAR" query "$@" >out 2>err || got=$?
    expect_equal "$got" 2 "status of ${*:-nothing}"
    expect_match "$(tail -1 err)" "^clear: $regex" "${*:-nothing}"
    [ ! -s out ] || fail "${*:-nothing} wrote rows"
    expect_same_file t.db before.db "t.db after ${*:-nothing}"
}
refused 'SQL line 1, column 19: no such column: fooo' "SELECT id, label, fooo FROM runs"
expect_equal "$(head -2 err)" "  SELECT id, label, fooo FROM runs
                    ^" "the caret's place"
refused 'SQL line 3, column 4: no such column: nix' $'SELECT 1,\n   \'ü\',\n   nix'
expect_equal "$(head -2 err)" $'     nix\n     ^' "the caret's place on line 3"
refused 'only reading is allowed: DELETE from runs' "DELETE FROM runs"
refused 'only reading is allowed: UPDATE of runs' "UPDATE runs SET id = 4"
refused 'only reading is allowed: INSERT into tags' "INSERT INTO tags VALUES (1, 'a', 'b') RETURNING key"
refused 'only reading is allowed: CREATE TABLE' "CREATE TABLE x(y)"
refused 'only reading is allowed: CREATE TABLE' "CREATE TEMP TABLE x AS SELECT 1"
refused 'only reading is allowed: DROP of runs' "DROP TABLE runs"
refused 'only reading is allowed: ATTACH' "ATTACH 'other.db' AS other"
refused 'only reading is allowed: PRAGMA user_version' "PRAGMA user_version = 7"
refused 'only reading is allowed: PRAGMA journal_mode' "PRAGMA journal_mode = WAL"
refused 'only reading is allowed: PRAGMA writable_schema' "PRAGMA writable_schema = 1"
refused 'only reading is allowed: PRAGMA query_only' "PRAGMA query_only = 0"
refused 'only reading is allowed: PRAGMA trusted_schema' "PRAGMA trusted_schema = 1"
refused 'only reading is allowed: PRAGMA incremental_vacuum' "PRAGMA incremental_vacuum"
refused 'only reading is allowed: PRAGMA wal_checkpoint' "PRAGMA wal_checkpoint"
refused 'only reading is allowed: PRAGMA application_id' "PRAGMA application_id(1)"
refused 'only reading is allowed: DETACH main' "DETACH main"
refused 'only reading is allowed: CREATE VIEW v' "CREATE VIEW v AS SELECT 1"
refused 'only reading is allowed: CREATE VIRTUAL TABLE' "CREATE VIRTUAL TABLE temp.f USING fts5(a)"
refused 'only reading is allowed' "WITH gone AS (SELECT 1) DELETE FROM runs RETURNING id"
refused 'only reading is allowed' "REINDEX"
refused 'only reading is allowed' "ANALYZE"
refused 'only reading is allowed' "SAVEPOINT s"
refused 'only reading is allowed' "BEGIN"
refused 'only reading is allowed' "VACUUM INTO 'copy.db'"
refused 'SQL line 1, column 8: not authorized to use function: load_extension' "SELECT load_extension('x')"
# Functions of the sqlite3 shell and of extensions: the authorizer refuses those that are there, the rest do not exist.
for function in "writefile('out.txt', 'x')" "readfile('/etc/passwd')" "edit('x')" "fts3_tokenizer('simple')"; do
    refused "SQL line 1, column 8: (not authorized to use function|no such function): ${function%%(*}" "SELECT $function"
done
[ ! -e out.txt ] || fail "writefile wrote"
refused 'only one statement can run' "SELECT 1; SELECT 2"
refused 'only one statement can run' "SELECT 1; DROP TABLE runs"
refused 'there is no SQL to run' " -- nothing"
refused 'no SQL: give a SELECT'
refused 'the SQL has a parameter :x: add x=VALUE' "SELECT :x"
refused 'the SQL has no parameter :y' "SELECT 1" y=2
refused "'two' is not NAME=VALUE" "SELECT 1" two
refused "unknown format 'xml'; formats are table, csv, json, jsonl, arrays, markdown" --format xml "SELECT 1"
refused 'parameters need names: :run instead of' "SELECT ?"
refused "t.db: no run 'nosuch' among 3" "SELECT :run" run=nosuch
[ ! -e other.db ] && [ ! -e copy.db ] || fail "a refused statement made a file"

expect_equal "$("$CLEAR" query --no-header "SELECT 1; -- and that is all
;")" 1 "a comment after the statement"
expect_equal "$("$CLEAR" query --no-header "SELECT count(*) FROM pragma_table_info('meta')")" 2 "describing the schema"
expect_equal "$("$CLEAR" query --no-header "SELECT id FROM runs WHERE id = :run")" 2 ":run is the latest"
expect_equal "$("$CLEAR" query --no-header "SELECT id FROM runs WHERE id = :run" run=latest~1)" 1 "run="
expect_equal "$("$CLEAR" query --no-header "SELECT typeof(:a), typeof(:b), typeof(:c), :c" a=1 b=1e3 c=1x)" "integer  real  text  1x" "parameters"
expect_equal "$(echo "SELECT 7" | "$CLEAR" query --no-header -)" 7 "SQL from standard input"
expect_match "$("$CLEAR" query -f none.sql 2>&1)" "^clear: none.sql: No such file" "-f without a file"
printf 'SELECT 1\0' >nul.sql
expect_equal "$("$CLEAR" query -f nul.sql 2>&1)" "clear: nul.sql: is not text (see clear query --help)" "-f of no text"
expect_equal "$("$CLEAR" query --no-header "SELECT count(*) > 0 FROM dbstat")" 1 "dbstat"
expect_match "$("$CLEAR" query "EXPLAIN QUERY PLAN SELECT id FROM runs")" "runs" "EXPLAIN"
echo "SELECT :n + 1" >file.sql
expect_equal "$("$CLEAR" query --no-header -f file.sql n=7)" 8 "SQL from a file"

endless="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"
got=0
start=$(date +%s%N)
message=$("$CLEAR" query --timeout 300ms "$endless" 2>&1) || got=$?
expect_equal "$got $message" "1 clear: stopped after 0.3 s; raise the limit with --timeout" "--timeout"
expect_between $((($(date +%s%N) - start) / 1000000)) 290 10000 "milliseconds until --timeout"
# Ctrl-C, as soon as the query has asked to hear of it.
message=$(python3 - "$CLEAR" query --timeout 0 "$endless" 2>&1 <<'PYTHON'
import re, signal, subprocess, sys, time
query = subprocess.Popen(sys.argv[1:])
def hears():
    return int(re.search(r"SigCgt:\s*(\w+)", open(f"/proc/{query.pid}/status").read())[1], 16) >> signal.SIGINT - 1 & 1
while query.poll() is None and not hears():
    time.sleep(0.01)
query.send_signal(signal.SIGINT)
query.wait()
PYTHON
)
expect_equal "$message" "clear: interrupted" "Ctrl-C"

expect_equal "$("$CLEAR" query "SELECT length(replace(hex(zeroblob(50000000)), '0', 'ab'))" 2>&1)" "clear: t.db: SQL: a value is larger than 64 MiB" "a huge value"
expect_equal "$("$CLEAR" query --no-header "SELECT length(hex(zeroblob(25000000)))")" 50000000 "a large value"

# Values so big that one function or one row takes longer than the limit: time, memory and output stay in theirs.
numbers="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)"
stops() { # stops MESSAGE ARGUMENT...: within a time far above the limit and far below what the SQL asks for
    local want=$1 got=0
    shift
    timeout 40 "$CLEAR" query "$@" >out 2>err || got=$?
    expect_equal "$got $(cat err)" "1 clear: $want" "$*"
}
stops "stopped: one function of the SQL takes longer than --timeout" --timeout 300ms "SELECT instr(hex(zeroblob(16000000)) || '1', hex(zeroblob(8000000)) || '2')"
for format in table csv; do
    stops "stopped after 0.3 s; raise the limit with --timeout" --timeout 300ms --format $format --max-output 0 "$numbers SELECT hex(zeroblob(30000000)) FROM c"
    stops "stopped after 10.0 MiB of output; raise the limit with --max-output" --max-output 10M --format $format "$numbers SELECT hex(zeroblob(1000)) FROM c"
    expect_between "$(stat -c %s out)" 10000000 40000000 "bytes of $format"
done
# One wide cell makes no blanks in the rows below it.
"$CLEAR" query "$numbers SELECT iif(x = 1, hex(zeroblob(1000000)), 'x') AS wide, x FROM c LIMIT 1000" >out || fail "a wide cell"
expect_between "$(stat -c %s out)" 2000000 2400000 "bytes of a table with a wide cell"

# A table is printed in blocks: every row once, one header, and a reader that has enough ends it at once.
many="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 30000) SELECT x FROM c"
expect_equal "$("$CLEAR" query "$many" | tr -d ' ' | cksum)" "$( (printf 'x\n-----\n'; seq 30000) | cksum)" "30,000 rows"
unending="WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c"
expect_equal "$(timeout 10 "$CLEAR" query --no-header "$unending" | head -1 | tr -d ' ')" 1 "the first row of many"

# An error inside a view that the SQL reads has its offset in the view's text: no place in the user's SQL is pointed at.
cat "$ROOT/schema/tables.sql" "$ROOT/tests/saved_data.sql" | sqlite3 offset.db || fail "making offset.db"
"$CLEAR" runs --db offset.db >/dev/null || fail "opening offset.db"
sqlite3 -cmd ".dbconfig defensive off" offset.db "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql)
    VALUES ('view', 'far', 'far', 0, 'CREATE VIEW far AS SELECT ' || printf('%5000s', '') || 'missing FROM runs'),
           ('view', 'close', 'close', 0, 'CREATE VIEW close AS SELECT missing FROM runs')" || fail "planting views"
for view in far close; do
    expect_status 2 "$CLEAR" query --db offset.db "SELECT * FROM $view WHERE 1 = 1 AND 2 = 2 AND 3 = 3" >out 2>err
    expect_match "$(cat err)" "SQL: no such column: missing" "an error in the view $view"
done
expect_status 2 "$CLEAR" query --db offset.db "SELECT missing FROM runs" >out 2>err
expect_match "$(cat err)" "SQL line 1, column 8: no such column: missing" "an error in the user's own SQL"

# Ctrl-C stops the query, not the shell that waits for it: on a terminal both get the signal.
needs_terminals
python3 - "$CLEAR" "$endless" >terminal <<'PYTHON' || fail "Ctrl-C on a terminal"
import os, pty, sys, time
child, master = pty.fork()
if child == 0:
    os.execvp("bash", ["bash", "--norc", "-ic", 'PS1=; "$1" query --timeout 0 "$2"; echo "status $?, shell goes on"', "bash", *sys.argv[1:]])
def asks():  # the job in the foreground is no longer the shell, and has computed for a while
    job = os.tcgetpgrp(master)
    try:
        with open(f"/proc/{job}/stat") as stat:
            words = stat.read().rpartition(")")[2].split()
        return job != child and int(words[11]) + int(words[12]) >= 20
    except OSError:
        return False
for _ in range(1200):
    if asks(): break
    time.sleep(0.05)
os.write(master, b"\x03")
out = b""
try:
    while data := os.read(master, 4096):
        out += data
except OSError:  # EIO: the terminal has no other end any more
    pass
os.waitpid(child, 0)
print(out.decode().replace("\r", ""))
PYTHON
expect_match "$(cat terminal)" "^(\^C)?clear: interrupted$" "Ctrl-C on a terminal"
expect_match "$(cat terminal)" "^status 1, shell goes on$" "the shell after Ctrl-C"
