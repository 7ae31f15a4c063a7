# A warehouse that somebody else made: views with another text, endless views, views in the place of tables. Each command ends soon,
# with the answer of clear's own views or with a message.
# timeout: 300
. "$(dirname "$0")/lib.sh"
export LC_ALL=C HOME=$TMP

"$PLAIN_CLEAR" profile -q --db t.db -o t.profile --label good "$FIXTURES/leak" >/dev/null 2>&1 || fail "recording"
endless='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT'
soon=40 # seconds for one command, on a busy machine

ends() { # ends WHAT COMMAND...: within the time, whatever the status; output in out and err
    local what=$1 got=0
    shift
    timeout -k 1 $soon "$@" >out 2>err || got=$?
    [ "$got" -lt 124 ] || fail "$what: $* did not end (status $got): $(tail -c 300 err)"
    [ ! -e harmed ] && [ ! -e harmed.db ] || fail "$what: $* wrote a file"
}

# ---- clear's own views, replaced ----
cp t.db views.db
for view in heap doctor doctor_heap run_summary sites frames lock_use; do
    columns=$(sql t.db "SELECT group_concat('i AS ' || name) FROM pragma_table_info('$view')")
    sqlite3 views.db "DROP VIEW $view; CREATE VIEW $view AS $endless $columns FROM n" || fail "planting $view"
done
locked=$(mktemp -d /tmp/clear-hostile.XXXXXX) && chmod 755 "$locked" && trap 'chmod -R u+w "$locked"; rm -rf "$locked"' EXIT
for reader in owner stranger; do
    planted=planted.db command=("$CLEAR")
    cp views.db planted.db
    if [ $reader = stranger ]; then # who may not write the file: nobody puts the views right in it
        planted=$locked/planted.db
        cp views.db "$planted" && chmod 444 "$planted" && chmod 555 "$locked"
        [ "$(id -u)" -ne 0 ] || command=(setpriv --reuid=65534 --regid=65534 --clear-groups "$CLEAR")
        "${command[@]}" version >/dev/null 2>&1 || continue # no way to be somebody else here
    fi
    for words in "runs" "doctor" "top --kind heap" "export --kind heap --format folded -o -"; do
        read -r -a list <<<"$words"
        ends "$reader, planted views" "${command[@]}" "${list[0]}" --db "$planted" "${list[@]:1}"
        "$PLAIN_CLEAR" "${list[0]}" --db t.db "${list[@]:1}" >want 2>/dev/null
        expect_equal "$(sed "s,$planted,t.db,g" out)" "$(cat want)" "$reader: $words: $(cat err)"
    done
done

# ---- views in the place of tables, computed columns ----
cp t.db tables.db
sqlite3 tables.db "ALTER TABLE runs RENAME TO real_runs; CREATE VIEW runs AS $endless i AS id FROM n" 2>/dev/null ||
    sqlite3 -cmd ".dbconfig legacy_alter_table on" tables.db "ALTER TABLE runs RENAME TO real_runs; CREATE VIEW runs AS $endless i AS id FROM n" ||
    fail "planting runs"
ends "runs is a view" "$CLEAR" runs --db tables.db
expect_match "$(cat err)" "tables.db: is damaged, or not made by clear: runs is not a table of its own" "a view in the place of a table"
cp t.db computed.db
sqlite3 computed.db "ALTER TABLE tags ADD COLUMN more TEXT AS (hex(zeroblob(400000000)))" || fail "a computed column"
ends "a computed column" "$CLEAR" runs --db computed.db
expect_match "$(cat err)" "computed.db: is damaged, or not made by clear: tags has a computed column" "a computed column"

# ---- triggers, indexes and constraints, which run when clear writes into the file ----
printf 'main;work;add 3\n' >stacks.folded
writes() { # writes WHAT FILE: each command that writes
    ends "$1: ingest" "$CLEAR" ingest -q --db "$2" stacks.folded
    ends "$1: profile" "$CLEAR" profile -q --db "$2" -o none.profile "$FIXTURES/leak"
}
cp t.db triggers.db
{
    for table in runs processes profiles traces functions site_rows meta queries rules; do
        for event in INSERT UPDATE; do
            echo "CREATE TRIGGER $event$table AFTER $event ON $table BEGIN
                INSERT INTO tags SELECT 1, 'harm' || count(*), '' FROM tags; $endless i FROM n; END;"
        done
    done
    echo "UPDATE meta SET value = 'older' WHERE key IN ('views_hash', 'rules_hash', 'queries_hash');"
} >triggers.sql
(tac triggers.sql | grep ^UPDATE && grep -v ^UPDATE triggers.sql) | sqlite3 triggers.db || fail "planting triggers"
ends "triggers: reading" "$CLEAR" runs --db triggers.db
writes triggers triggers.db
expect_equal "$(sql triggers.db "SELECT count(*) FROM tags WHERE key GLOB 'harm*'; SELECT count(*) FROM runs;
    SELECT count(*) FROM sqlite_schema WHERE name = 'INSERTruns'")" "$(printf '0\n3\n1')" "no trigger ran, the runs are there, and the trigger stays its owner's"

costly='length(hex(zeroblob(40000000)))' # the stock shell evaluates it for each row as it plants it
while read -r name said plant; do
    cp t.db "$name.db"
    sqlite3 -cmd ".dbconfig defensive off" "$name.db" "$plant" || fail "planting $name"
    rows=$(sql "$name.db" "SELECT count(*) FROM runs")
    ends "$name" "$CLEAR" ingest -q --db "$name.db" stacks.folded
    expect_match "$(cat err)" "$name.db: .*$said" "$name: the message"
    expect_equal "$(sql "$name.db" "SELECT count(*) FROM runs")" "$rows" "$name: nothing was written"
done <<END
expression costly.*DROP.INDEX CREATE INDEX costly ON runs($costly);
partial costly.*DROP.INDEX CREATE INDEX costly ON runs(label) WHERE $costly > 0;
check runs.has.other.constraints ALTER TABLE runs ADD COLUMN more INTEGER CHECK ($costly > 0);
default runs.has.other.constraints PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'exit_status  INTEGER', 'exit_status INTEGER DEFAULT ($costly)') WHERE name = 'runs';
hidden tags.has.other.constraints ALTER TABLE tags ADD COLUMN more TEXT DEFAULT '--' CHECK ($costly > 0); -- '
END
cp t.db users.db # what a user may well have
sqlite3 users.db "ALTER TABLE runs ADD COLUMN note TEXT DEFAULT 'none'; CREATE INDEX hosts ON runs(host, label DESC)" || fail "a user's column"
writes "a user's column and index" users.db
expect_equal "$(sql users.db "SELECT count(*) FROM runs WHERE note = 'none'")" 3 "runs beside a user's column: $(cat err)"

# ---- an older file whose tables are not tables ----
sqlite3 older.db <"$ROOT/fixtures/warehouse_v1.sql"
sqlite3 older.db "DROP TABLE sites; CREATE VIEW sites AS $endless 0 AS profile_id, i AS trace_id, 0 AS label_set_id, 0 AS alloc_count, 0 AS alloc_bytes,
    0 AS free_count, 0 AS free_bytes FROM n" || fail "planting sites"
ends "an older file" "$CLEAR" runs --db older.db
expect_match "$(cat err)" "older.db: is damaged, or not made by clear: sites is not a table" "a view in the place of an older table"

# ---- diagnoses of users that do not end, that are huge, that reach out ----
diagnosis="1 AS run_id, 'x' AS section, 'c' AS code, 'note' AS severity, i AS subject, '{}' AS evidence, '[]' AS trace_ids, '' AS advice"
cp t.db diagnoses.db
sqlite3 diagnoses.db "CREATE VIEW doctor_endless AS $endless $diagnosis FROM n;
    CREATE VIEW doctor_silent AS $endless $diagnosis FROM n WHERE i < 0;
    CREATE VIEW doctor_huge AS SELECT $diagnosis FROM (SELECT hex(zeroblob(400000000)) AS i);
    CREATE VIEW doctor_outside AS SELECT $diagnosis FROM (SELECT load_extension('$TMP/none') AS i)" || fail "planting diagnoses"
ends "diagnoses without an end" "$CLEAR" doctor --db diagnoses.db
expect_match "$(cat err)" "doctor_endless is not used as a diagnosis: it has more than 100,000 rows for this run" "too many rows"
expect_match "$(cat err)" "doctor_silent is not used as a diagnosis: it takes longer than 5 s for this run" "no end"
expect_match "$(cat err)" "doctor_huge is not used as a diagnosis: string or blob too big" "a huge value"
expect_match "$(cat err)" "doctor_outside is not used as a diagnosis: (not authorized|unsafe use)" "a function that reaches out"
ends "runs beside them" "$CLEAR" runs --db diagnoses.db
expect_match "$(cat out)" good "the run beside bad diagnoses"
cp t.db doubled.db # each view names the one before it many times
{
    echo "CREATE VIEW d0 AS SELECT 1 AS i;"
    for i in $(seq 12); do echo "CREATE VIEW d$i AS SELECT i FROM d$((i - 1)) UNION ALL SELECT i FROM d$((i - 1)) UNION ALL SELECT i FROM d$((i - 1));"; done
    for i in 1; do echo "CREATE VIEW doctor_d$i AS SELECT $diagnosis FROM d12;"; done
} | sqlite3 doubled.db || fail "planting doubled views"
ends "doubled views" "$CLEAR" runs --db doubled.db

# ---- the text of a planted view, where clear.yaml makes clear copy it ----
mkdir -p strict && echo 'thresholds: {lock_contended_percent: 30}' >strict/clear.yaml
cp t.db strict/t.db
sqlite3 strict/t.db "CREATE VIEW mine AS SELECT 1 AS one" || fail "a view"
sqlite3 -cmd ".dbconfig defensive off" strict/t.db "PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = sql || '; VACUUM INTO ''$TMP/harmed.db''' WHERE name = 'mine'" || fail "planting a second statement"
(cd strict && ends "a view of two statements" "$CLEAR" doctor --db t.db)

# ---- a warehouse of another user, which nobody named ----
if [ "$(id -u)" -eq 0 ] && mkdir -p theirs && cp t.db theirs/runs.sqlite && chown 65534 theirs/runs.sqlite; then
    (
        cd theirs || exit 1
        got=0
        said=$(SUDO_UID='' "$CLEAR" runs 2>&1) || got=$?
        expect_equal "$got $said" "1 clear: runs.sqlite belongs to another user and is not opened by default: --db runs.sqlite opens it" "another's warehouse"
        "$CLEAR" runs --db runs.sqlite >/dev/null || fail "another's warehouse by name"
        SUDO_UID=65534 "$CLEAR" runs >/dev/null || fail "that of the user who called sudo"
    ) || exit 1
fi

# ---- a damaged index makes the file look as if another clear had made it; what cannot be brought up to date stays one file ----
profile -q --db damaged.db -- "$FIXTURES/leak" >/dev/null || fail 'a recording'
page=$(sqlite3 damaged.db "SELECT pageno FROM dbstat WHERE name = 'sqlite_autoindex_meta_1'")
python3 - $page <<'PY' || fail 'damage'
import sys
with open('damaged.db', 'r+b') as file:
    start = (int(sys.argv[1]) - 1) * 4096
    for place, byte in ((1, 10), (16, 2), (17, 1)):  # free space, and where two cells are
        file.seek(start + place)
        file.write(bytes([byte]))
PY
"$CLEAR" doctor --db damaged.db >doctor.txt 2>err.txt || fail "doctor of a file with a damaged index: $(cat err.txt)"
expect_equal "$(od -An -tu1 -j18 -N2 damaged.db | tr -s ' ')" ' 1 1' 'the mode of its journal'
