# Backup and restore of a store, as docs/store-operations.md has them: pg_dump of the schema `clear`, pg_restore into an empty database, clear store upgrade,
# which looks at what is there. What comes out of the restored store is what went in.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
[ -z "${CLEAR_POSTGRES:-}" ] || skip 'pg_dump is of another version than that server'
postgres_start
ingest_corpus
"$PLAIN_CLEAR" store init --db $STORE >/dev/null && "$PLAIN_CLEAR" store grant --db $STORE >/dev/null || fail init
# Every query meets the partitions of the tables that it reads: seven tables have them.
expect_equal "$(pg "SELECT count(*) FROM pg_class WHERE relnamespace = 'clear'::regnamespace AND relkind = 'p'")" 7 'tables with partitions'
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project all || fail push
answer() { "$PLAIN_CLEAR" query --remote --db "$1" --project all 'SELECT count(*), sum(alloc_bytes) FROM run_summary' 2>&1; }
want=$(answer $STORE)
expect_match "$want" "$runs" 'what the store says'

"$postgres_bin/pg_dump" --format=custom --schema=clear --file=store.dump profiles 2>err.txt || fail "pg_dump: $(cat err.txt)"
psql -Xq -d postgres -c 'CREATE DATABASE again' || fail 'CREATE DATABASE'
AGAIN=postgresql:///again
"$postgres_bin/pg_restore" --exit-on-error --single-transaction --dbname=again store.dump 2>err.txt || fail "pg_restore: $(cat err.txt)"
"$CLEAR" store upgrade --db $AGAIN >upgrade.txt 2>&1 || fail "upgrade: $(cat upgrade.txt)"
expect_match "$(cat upgrade.txt)" 'was made again' 'a restored store'
expect_equal "$(answer $AGAIN)" "$want" 'what the restored store says'
"$CLEAR" store check --db $AGAIN >check.txt 2>&1 || fail "check: $(cat check.txt)"
"$CLEAR" store upgrade --db $AGAIN >upgrade.txt || fail upgrade
expect_match "$(cat upgrade.txt)" 'is up to date' 'a second upgrade'
"$PLAIN_CLEAR" pull -q all --from $AGAIN --project all --db back.db 2>err.txt || fail "pull: $(cat err.txt)"
for uuid in $(sql c.db 'SELECT uuid FROM runs ORDER BY uuid LIMIT 5'); do
    for db in c.db back.db; do "$PLAIN_CLEAR" export "$uuid" --db $db --format pprof -o $db.pb.gz >/dev/null 2>&1; done
    cmp c.db.pb.gz back.db.pb.gz || fail "the export of run $uuid after a restore"
done
# What an operator dropped comes back, and who could push still may.
for damage in 'DROP VIEW clear_views.run_summary CASCADE' 'DROP FUNCTION clear.check_traces() CASCADE' 'ALTER TABLE clear.functions DISABLE TRIGGER own_key' \
    'DROP FUNCTION clear.add_month(date)' 'DROP INDEX clear.runs_label'; do
    PGDATABASE=again pg "$damage" || fail "$damage"
    "$PLAIN_CLEAR" store upgrade --db $AGAIN >upgrade.txt 2>&1 || fail "upgrade after $damage: $(cat upgrade.txt)"
    expect_match "$(cat upgrade.txt)" 'was made again' "$damage"
done
# A store of an earlier clear had partitions of every table, and a row a function: an upgrade takes the partitions away, makes lists, and keeps
# rows, triggers and what roles may.
lists() { PGDATABASE=again pg 'SELECT * FROM clear.function_facts ORDER BY project, month, run'; }
lists >lists.txt
expect_equal "$(wc -l <lists.txt)" "$(PGDATABASE=again pg 'SELECT count(DISTINCT run) FROM clear.profiles JOIN clear.sites USING (project, month, run)')" 'lists of functions'
PGDATABASE=again pg "CREATE TABLE clear.old_facts (project bigint, month date, run uuid, place bigint, PRIMARY KEY (project, month, run, place),
        subject_id bigint, alloc_count bigint, alloc_bytes bigint, inuse_count bigint, inuse_bytes bigint, peak_bytes bigint);
    INSERT INTO clear.old_facts
    SELECT project, month, run, item.place, item.a, item.b, item.c, item.d, item.e, item.f
    FROM clear.function_facts
    CROSS JOIN unnest(subject_id, alloc_count, alloc_bytes, inuse_count, inuse_bytes, peak_bytes) WITH ORDINALITY AS item(a, b, c, d, e, f, place);
    DROP TABLE clear.function_facts CASCADE; ALTER TABLE clear.old_facts RENAME TO function_facts;
    GRANT SELECT, INSERT ON clear.function_facts TO clear_push;
    CREATE TRIGGER own_runs AFTER INSERT ON clear.function_facts REFERENCING NEW TABLE AS fresh
        FOR EACH STATEMENT EXECUTE FUNCTION clear.check_rows()" || fail 'rows of functions'
expect_equal "$(PGDATABASE=again pg 'SELECT count(*) > count(DISTINCT run) FROM clear.function_facts')" t 'rows of functions'
PGDATABASE=again pg "CREATE TABLE clear.old_tags (LIKE clear.tags, PRIMARY KEY (project, month, run, place)) PARTITION BY RANGE (month);
    CREATE TABLE clear.tags_all PARTITION OF clear.old_tags FOR VALUES FROM ('1970-01-01') TO ('2100-01-01');
    INSERT INTO clear.old_tags SELECT project, month, run, 1, 'branch', 'main' FROM clear.runs;
    DROP TABLE clear.tags CASCADE; ALTER TABLE clear.old_tags RENAME TO tags; GRANT SELECT, INSERT ON clear.tags TO clear_push;
    CREATE TRIGGER own_runs AFTER INSERT ON clear.tags REFERENCING NEW TABLE AS fresh FOR EACH STATEMENT EXECUTE FUNCTION clear.check_rows();
    UPDATE clear.meta SET value = '7005' WHERE key = 'version'; CREATE VIEW public.mine AS SELECT * FROM clear.tags" || fail 'a store of an earlier clear'
expect_status 1 "$CLEAR" store upgrade --db $AGAIN 2>err.txt
expect_match "$(cat err.txt)" 'must be dropped before.*public.mine' 'a view of somebody else'
PGDATABASE=again pg 'DROP VIEW public.mine' || fail 'DROP VIEW'
"$CLEAR" store upgrade --db $AGAIN >upgrade.txt 2>&1 || fail "upgrade of a store with partitions: $(cat upgrade.txt)"
expect_match "$(cat upgrade.txt)" 'was 7005' 'a store with partitions'
expect_equal "$(PGDATABASE=again pg "SELECT relkind, (SELECT count(*) FROM clear.tags), has_table_privilege('clear_push', 'clear.tags', 'INSERT'),
    (SELECT count(*) FROM pg_trigger WHERE tgrelid = pg_class.oid AND tgname = 'own_runs') FROM pg_class WHERE oid = 'clear.tags'::regclass")" "r|$runs|t|1" 'a table that had partitions'
expect_equal "$(PGDATABASE=again pg "SELECT has_table_privilege('clear_push', 'clear.function_facts', 'INSERT'),
    (SELECT count(*) FROM pg_trigger WHERE tgrelid = 'clear.function_facts'::regclass AND tgname = 'own_runs')")" 't|1' 'a table that had rows of functions'
lists | diff lists.txt - >&2 || fail 'lists of functions after an upgrade'
# What docs/store-operations.md says to watch is SQL that runs.
python3 - "$ROOT/docs/store-operations.md" >watch.sql <<'PY' || fail watch.sql
import re, sys
watch = open(sys.argv[1]).read().split('## What to watch')[1].split('\n## ')[0]
print('\n'.join(re.findall(r'```sql\n(.*?)```', watch, re.S)))
PY
[ "$(grep -c ';' watch.sql)" -ge 5 ] || fail 'few statements to watch'
psql -XqAt -v ON_ERROR_STOP=1 -f watch.sql >watched.txt 2>err.txt || fail "what to watch: $(cat err.txt)"
expect_match "$(cat watched.txt)" "all\|.*\|$runs" 'what is watched'
# On another server: with the roles by pg_dumpall, as text; and without privileges, which clear store grant gives again.
first=$PG
postgres_start
trap 'for PG in "$PG" "$first"; do postgres_stop; rm -rf "$PG"; done' EXIT
there=$PG
PGHOST=$first "$postgres_bin/pg_dumpall" -r | grep -v 'ROLE clear\b' | psql -Xq -v ON_ERROR_STOP=1 -d postgres >/dev/null 2>err.txt || fail "roles: $(cat err.txt)"
PGHOST=$first "$postgres_bin/pg_dump" --schema=clear profiles | psql -Xq -v ON_ERROR_STOP=1 >/dev/null 2>err.txt || fail "pg_dump | psql: $(cat err.txt)"
psql -Xq -d postgres -c 'CREATE DATABASE plain' && "$postgres_bin/pg_restore" -e -1 -x -d plain store.dump 2>err.txt || fail "pg_restore -x: $(cat err.txt)"
"$PLAIN_CLEAR" store upgrade --db postgresql:///plain >/dev/null && "$PLAIN_CLEAR" store grant --db postgresql:///plain >/dev/null || fail 'grant after a restore without privileges'
"$PLAIN_CLEAR" store upgrade --db $STORE >/dev/null || fail 'upgrade on another server'
psql -Xq -d postgres -c 'CREATE ROLE machine LOGIN IN ROLE clear_push' || fail role
for store in $STORE postgresql:///plain; do
    expect_equal "$(answer $store)" "$want" "what $store says"
    "$PLAIN_CLEAR" store check --db $store >/dev/null || fail "check of $store"
    PGUSER=machine "$PLAIN_CLEAR" push -q --db c.db --to $store --project late 2>err.txt || fail "push to $store: $(cat err.txt)"
    PGUSER=machine expect_status 1 "$PLAIN_CLEAR" rm all --force --db $store --project late 2>err.txt
done
export PGHOST=$first
PG=$first first=$there
psql -Xq -d postgres -c 'CREATE ROLE keeper LOGIN; ALTER ROLE clear_push RENAME TO other_push' -c 'CREATE DATABASE kept OWNER keeper' || fail 'another owner'
PGUSER=keeper "$PLAIN_CLEAR" store init --db postgresql:///kept >/dev/null || fail 'init by another owner'
PGUSER=keeper expect_status 1 "$PLAIN_CLEAR" store grant --db postgresql:///kept 2>err.txt
expect_match "$(cat err.txt)" 'ask for CREATEROLE' 'grant without CREATEROLE'
psql -Xq -d postgres -c 'ALTER ROLE other_push RENAME TO clear_push' || fail rename
PGUSER=keeper "$PLAIN_CLEAR" store grant --db postgresql:///kept >/dev/null 2>err.txt || fail "grant of roles that are there: $(cat err.txt)"
pg 'CREATE ROLE ci LOGIN IN ROLE clear_push' || fail role
PGUSER=ci "$PLAIN_CLEAR" push -q --db c.db --to $AGAIN --project late 2>err.txt || fail "push to the restored store: $(cat err.txt)"
exit 0
