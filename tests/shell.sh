#!/bin/bash
# clear shell: the stock sqlite3, read-only, with headers and the saved queries as views; clear schema: the file explained.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C HOME=$TMP
cat "$ROOT/schema/tables.sql" "$ROOT/tests/saved_data.sql" | sqlite3 t.db || fail "making t.db"
"$CLEAR" runs --db t.db >/dev/null || fail "opening t.db"
export CLEAR_DB=t.db
sum=$(sha256sum <t.db)

# Columns with headers where nobody watches, SQL from arguments and from standard input.
expect_equal "$("$CLEAR" shell "SELECT trace_id, alloc_bytes FROM hot_sites LIMIT 1" | sed 's/ *$//')" 'trace_id  alloc_bytes
--------  -----------
2         12000' "a saved query as a view"
expect_equal "$(echo "SELECT count(*) AS n FROM growth;" | "$CLEAR" shell | tail -1 | tr -d ' ')" 3 "SQL from standard input"
expect_equal "$("$CLEAR" shell "SELECT sql FROM temp.sqlite_schema WHERE name = 'leak_ages'" | grep -c ':run')" 0 "parameters in a view"
# Every saved query is a view of that name, but for those that need a value.
expect_equal "$("$CLEAR" shell ".headers off" ".mode list" "SELECT name FROM temp.sqlite_schema WHERE type = 'view' ORDER BY name")" \
    "$(sql t.db "SELECT replace(name, '-', '_') FROM queries WHERE name NOT IN ('callers', 'site-history', 'lock-history') ORDER BY 1")" "the views"
mapfile -t each < <("$CLEAR" shell ".headers off" ".mode list" "SELECT 'SELECT * FROM ' || name FROM temp.sqlite_schema WHERE type = 'view'")
"$CLEAR" shell "${each[@]}" >out 2>err || fail "a view, in ${each[*]}: $(cat err)" # the shell ends at the first error

# It cannot write, by any way that SQL knows.
for statement in "DELETE FROM runs" "CREATE TABLE x(y)" "PRAGMA user_version = 9" "UPDATE rules SET value = 1"; do
    expect_match "$("$CLEAR" shell "$statement; SELECT 1" 2>&1)" "readonly database" "$statement"
done
expect_equal "$(sha256sum <t.db)" "$sum" "t.db after the shell"
mkdir -p odd && cp t.db ./-odd.db
expect_equal "$("$CLEAR" shell --db=-odd.db "SELECT count(*) FROM runs" | tail -1 | tr -d ' ')" 3 "a name like an option"
expect_match "$("$CLEAR" shell --db none.db 2>&1)" "^clear: none.db: no such file" "no warehouse"
[ ! -e none.db ] || fail "clear shell made a database"
mkdir empty && expect_match "$(PATH=$TMP/empty "$CLEAR" shell "SELECT 1" 2>&1)" "^clear: sqlite3 is not in PATH" "no sqlite3"

if has_terminals; then
# On a terminal: a greeting, then boxes.
python3 - "$CLEAR" >terminal <<'PYTHON' || fail "clear shell on a terminal"
import os, pty, sys
child, master = pty.fork()
if child == 0:
    os.execv(sys.argv[1], [sys.argv[1], "shell"])
os.write(master, b"SELECT 42 AS answer;\n.quit\n")
out = b""
try:
    while data := os.read(master, 4096):
        out += data
except OSError:  # EIO: the terminal has no other end any more
    pass
print(out.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
PYTHON
expect_match "$(cat terminal)" "^t.db, read-only: 3 runs, the latest is 3$" "the greeting"
expect_match "$(cat terminal)" "^saved queries, for the latest run: biggest_stacks channel_saturation " "the greeting's queries"
expect_match "$(cat terminal)" "│ 42 +│" "a box"
fi

# schema: what is printed makes the same schema again, comments and all.
"$CLEAR" schema >schema.sql || fail "clear schema"
sqlite3 copy.db <schema.sql || fail "what clear schema prints is no SQL"
same="SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
expect_equal "$(sql copy.db "$same")" "$(sql t.db "$same")" "the schema made of clear schema"
expect_match "$(head -9 schema.sql)" "\[ns since epoch\] +a moment: nanoseconds since" "the conventions at its top"
expect_equal "$("$CLEAR" schema locks | head -1)" "CREATE TABLE locks (" "a table"
expect_match "$("$CLEAR" schema locks)" "read_acquires +INTEGER .* -- \[count\] shared acquisitions" "its comments"
expect_equal "$("$CLEAR" schema sites | grep '^CREATE')" "$(printf '%s\n' 'CREATE VIEW sites AS' 'CREATE TRIGGER sites_insert INSTEAD OF INSERT ON sites' \
    'CREATE TRIGGER sites_delete INSTEAD OF DELETE ON sites' 'CREATE TRIGGER sites_update INSTEAD OF UPDATE ON sites')" "a view with its triggers"
expect_match "$("$CLEAR" schema SITES heap)" "^CREATE VIEW heap AS" "several names"
expect_equal "$("$CLEAR" schema traces | grep -c '^CREATE INDEX')" 2 "the indexes of a table"
sqlite3 t.db "CREATE VIEW own AS SELECT 1 AS one" || fail "a view"
expect_equal "$("$CLEAR" schema own | head -1)" "CREATE VIEW own AS SELECT 1 AS one;" "a user's own view"
got=0
message=$("$CLEAR" schema sties 2>&1) || got=$?
expect_equal "$got $message" "2 clear: t.db: no table or view 'sties'; did you mean sites? (see clear schema --help)" "a name that is not there"
message=$("$CLEAR" schema frobnicate 2>&1)
expect_equal "$message" "clear: t.db: no table or view 'frobnicate' (see clear schema --help)" "a name like none"
unset CLEAR_DB
(cd empty && "$CLEAR" schema runs && [ ! -e runs.sqlite ]) >fresh || fail "clear schema without a warehouse"
expect_equal "$(cat fresh)" "$("$CLEAR" schema --db t.db runs)" "the schema of a new warehouse"

# Nothing from a warehouse becomes a command of the shell: names, descriptions and texts of saved queries that try.
cp t.db hostile.db
sqlite3 hostile.db "INSERT INTO queries(name, description, sql) VALUES
    ('plain', 'x' || char(10) || ';' || char(10) || '.shell touch $TMP/harmed', 'SELECT 7 AS seven'),
    ('quoted\" AS SELECT 1;' || char(10) || '.shell touch $TMP/harmed' || char(10), 'd', 'SELECT 1'),
    ('commented', 'd', 'SELECT 8 AS eight -- x' || char(10) || '/* ;' || char(10) || '.shell touch $TMP/harmed' || char(10) || '*/')" ||
    fail "making hostile.db"
expect_equal "$("$CLEAR" shell --db hostile.db ".headers off" ".mode list" "SELECT seven, eight FROM plain, commented" 2>err)" '7|8' \
    "queries beside hostile ones"
[ ! -e harmed ] || fail "a saved query ran a command of the shell"
# The shell itself is in its safe mode.
"$CLEAR" shell --db t.db ".shell touch $TMP/harmed" >out 2>&1
[ ! -e harmed ] || fail "the shell runs other programs"
expect_match "$(cat out)" 'safe mode' "a command that leaves the warehouse"
needs_terminals # for the part above
