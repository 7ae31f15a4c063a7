# What one who may push cannot do to others: give their names another text, add rows to their runs, hide them behind a run of the same uuid, make
# a month of any century. And what the owner can mend: names that are another than their key says, and runs that must go.
# timeout: 400
# In the gate some of the answers of the server that lies, of each command others: of a push a third and of each other command a sixth; all in make asan.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"
postgres_start

ingest_corpus
"$PLAIN_CLEAR" store init --db $STORE >/dev/null && "$PLAIN_CLEAR" store grant --db $STORE >/dev/null || fail init
pg 'CREATE ROLE ci LOGIN IN ROLE clear_push; CREATE ROLE eve LOGIN IN ROLE clear_push' || fail roles
as() { PGUSER=$1 "${@:2}"; }
"$PLAIN_CLEAR" push -q --db c.db --to $STORE --project source || fail push

# ---- names before those who need them ----
victim=$(python3 - <<'PY'
import hashlib, struct
text = lambda s: struct.pack('<q', len(s)) + s
print(struct.unpack('<q', hashlib.sha256(text(b'project') + text(b'victim')).digest()[:8])[0])
PY
)
refused() { # refused WHAT SQL [REGEX]: eve may not
    as eve psql -XqAt -v ON_ERROR_STOP=1 -c "$2" >eve.txt 2>&1 && fail "eve may: $1"
    expect_match "$(cat eve.txt)" "${3:-permission denied}" "$1"
}
plant() { # plant TABLE COLUMN=VALUE: the names of the project under the keys that they will have, with one column changed
    local columns
    columns=$(pg "SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'clear.$1'::regclass AND attnum > 1 AND NOT attisdropped")
    refused "a wrong row of $1" "INSERT INTO clear.$1(project, $columns) SELECT $victim, ${columns/"${2%%=*}"/"${2#*=}"} FROM clear.$1" 'another than its key says'
}
plant functions "name=name || 'x'"
plant functions 'start_line=start_line + 1'
plant functions '"check"="check" # 1'
plant mappings "build_id='0'"
plant locations 'address=address + 1'
plant locations 'lines=lines || 1::bigint'
plant traces 'locations=locations[2:]'
plant traces 'locations=locations || NULL::bigint'
plant traces "locations=('[2:' || cardinality(locations) + 1 || ']=' || locations::text)::bigint[]"
plant traces 'locations=ARRAY[locations]'
plant label_sets "labels='[]'"
refused 'a byte 0 in a name' "INSERT INTO clear.functions SELECT $victim, key, \"check\", name || chr(1113600), system_name, filename, start_line FROM clear.functions" 'another than its key says'
refused "another project's number" "INSERT INTO clear.projects VALUES ($victim, 'mine')" 'another than its key says'
expect_equal "$(pg "SELECT count(*) FROM clear.functions WHERE project = $victim")" 0 'names that eve planted'
# What is right may come from anybody.
as eve pg "INSERT INTO clear.functions SELECT $victim, key, \"check\", name, system_name, filename, start_line FROM clear.functions" || fail 'a right name'
as ci "$PLAIN_CLEAR" push -q --db c.db --to $STORE --project victim 2>err.txt || fail "push: $(cat err.txt)"
"$PLAIN_CLEAR" pull -q all --from $STORE --project victim --db victim.db 2>err.txt || fail "pull: $(cat err.txt)"
expect_equal "$(sql victim.db 'SELECT count(*) FROM runs')" "$runs" 'runs that came back'

# ---- runs of others ----
before=$(pg_contents)
run=$(pg "SELECT run FROM clear.run_names WHERE project = $victim ORDER BY run LIMIT 1")
of_run="FROM clear.run_names WHERE project = $victim AND run = '$run'"
part=$(pg "SELECT 'samples_' || to_char(month, 'YYYYMM') $of_run")
come='is there already, or is not there'
refused 'a tag of a run of others' "INSERT INTO clear.tags SELECT project, month, run, 99, 'a', 'b' $of_run" "$come"
refused 'a pin of a run of others' "INSERT INTO clear.pins(project, month, run, place) SELECT project, month, run, 99 $of_run" "$come"
refused 'a finding of a run of others' "INSERT INTO clear.findings SELECT project, month, run, 9999, 'heap', 'x', 'critical', 's', '{}' $of_run" "$come"
refused 'a run without its first row' "INSERT INTO clear.figures SELECT project, month, gen_random_uuid(), 1, 'alloc_bytes', '', 1 $of_run" "$come"
refused 'a row of a partition' "INSERT INTO clear.$part(project, month, run, place) SELECT project, month, run, 99 $of_run"
refused 'the same run in another month' "SELECT clear.add_month('1970-01-01');
    INSERT INTO clear.run_names(project, month, run, traces, label_sets, objects) SELECT project, '1970-01-01', run, '{}', '{}', '{}' $of_run" 'with another month'
refused 'the number of another run' "INSERT INTO clear.run_names(project, month, run, traces, label_sets, objects, number) SELECT project, month, gen_random_uuid(), '{}', '{}', '{}', number $of_run"
refused 'another name of who pushed' "INSERT INTO clear.run_names(project, month, run, traces, label_sets, objects, pushed_by) SELECT project, month, gen_random_uuid(), '{}', '{}', '{}', 'ci' $of_run"
refused 'a run that is removed' "INSERT INTO clear.removed(project, run) SELECT project, run $of_run"
expect_equal "$(pg_contents)" "$before" 'the store after all that'

# ---- months ----
refused 'a month of another century' "SELECT clear.add_month('1850-01-01')" 'make_month'
refused 'a month of the future' "SELECT clear.add_month((now() + interval '3 months')::date)" 'make_month'
refused 'any month' "SELECT clear.make_month('1850-01-01')"
as eve pg "SELECT clear.add_month((now() - interval '30 months')::date), clear.add_month('1970-01-01')" >/dev/null || fail 'a month that is near'
pg "SELECT clear.make_month('1851-01-01'), clear.add_month('1852-01-01')" >/dev/null || fail 'a month that the owner makes'

# ---- what the owner changes ----
export XDG_CACHE_HOME=$PWD/cache
at_store() { "$CLEAR" "${1}" --db $STORE --project victim "${@:2}"; }
short=${run:0:8}
at_store runs "$short" --json >/dev/null 2>&1 # fills the cache where a list would
at_store doctor "$short" >/dev/null || fail doctor
at_store tag "$short" "secret=it's" 'hard=\' >edit.txt || fail tag
expect_equal "$(cat edit.txt)" "run $short: secret=it's, hard=\\" 'what tag says'
at_store tag "$short" 'secret=other' hard= >/dev/null || fail 'tag again'
at_store pin "$short" 'the leak' >edit.txt || fail pin
expect_equal "$(cat edit.txt)" "run $short: pinned: the leak" 'what pin says'
at_store label "$short" 'mine' >/dev/null || fail label
expect_equal "$(pg "SELECT label, tags.value, why FROM clear.runs JOIN clear.tags USING (project, month, run) JOIN clear.pins USING (project, month, run) WHERE project = $victim AND run = '$run' AND key IN ('secret', 'hard')")" 'mine|other|the leak' 'a run that was changed'
at_store export "$short" --format json -o - >/dev/null || fail 'a changed run from the cache'
expect_equal "$(at_store query --runs "$short" "SELECT value FROM tags WHERE key = 'secret'" 2>&1 | tail -1)" other 'a tag of a run that was in the cache'
expect_status 1 as ci at_store tag "$short" a=b 2>err.txt
expect_match "$(cat err.txt)" 'changed by the owner of its tables, clear' 'a tag by another'
expect_status 1 as ci at_store rm "$short" 2>err.txt
expect_status 1 at_store rm "$short" 2>err.txt
expect_match "$(cat err.txt)" 'is pinned: the leak' 'a pinned run'
expect_status 2 at_store rm all 2>err.txt
expect_match "$(cat err.txt)" "$runs runs would be deleted" 'all runs without --force'
before=$(pg_contents)
at_store rm -n --force all --json >edit.txt || fail 'a trial'
expect_match "$(cat edit.txt)" '"deleted":false' 'a trial'
expect_equal "$(pg_contents)" "$before" 'the store after a trial'
at_store pin --unpin "$short" >/dev/null && at_store rm "$short" >edit.txt || fail rm
expect_match "$(tr '\n' ' ' <edit.txt)" "$run.*deleted 1 run" 'what rm says'
tables=$(pg "SELECT string_agg(format('SELECT %L FROM clear.%I WHERE project = $victim AND run = ''$run''', name, name), ' UNION ALL ') FROM clear.run_tables() AS name")
expect_match "$tables" 'clear.runs WHERE.*clear.tags WHERE' 'tables of a run'
expect_equal "$(pg "$tables")" '' 'rows of a run that was deleted'
as ci "$PLAIN_CLEAR" push --json --db c.db --to $STORE --project victim >push.txt || fail 'a push after rm'
expect_match "$(cat push.txt)" "\"pushed\":0,\"known\":$runs" 'a push after rm'
refused 'a run that was removed' "SELECT clear.add_month('1970-01-01');
    INSERT INTO clear.run_names(project, month, run, traces, label_sets, objects) SELECT project, '1970-01-01', run, '{}', '{}', '{}' FROM clear.removed" 'its owner removed it'
"$PLAIN_CLEAR" pull -q all --from $STORE --project victim --db left.db 2>err.txt || fail "pull after rm: $(cat err.txt)"
expect_equal "$(sql left.db "SELECT count(*), sum(uuid = '$run') FROM runs")" "$((runs - 1))|0" 'runs after rm'

# ---- names that are wrong all the same ----
# As a store may have them from before, or from its owner: a function under another's key, a stack that is gone, a location that is gone.
"$PLAIN_CLEAR" store check --db $STORE >check.txt 2>&1 || fail "check: $(cat check.txt)"
expect_match "$(cat check.txt)" '^0 names are others than their keys say, 0 missing' 'a store without faults'
pg "UPDATE clear.functions SET name = name || 'x' WHERE project = $victim AND key = (SELECT functions[1] FROM clear.locations WHERE project = $victim AND cardinality(functions) > 0 ORDER BY key LIMIT 1);
    DELETE FROM clear.traces WHERE project = $victim AND key = (SELECT traces[1] FROM clear.run_names WHERE project = $victim AND cardinality(traces) > 0 ORDER BY run LIMIT 1);
    DELETE FROM clear.locations WHERE project = $victim AND key = (SELECT max(key) FROM clear.locations WHERE project = $victim)" || fail damage
expect_status 1 "$CLEAR" pull -q all --from $STORE --project victim --db hurt.db 2>err.txt
before=$(pg_contents)
expect_status 1 "$CLEAR" store check --json --db $STORE >check.json 2>err.txt
expect_match "$(cat check.json)" '"wrong":1,"missing":3,"repaired":false' 'a damaged store'
expect_equal "$(pg_contents)" "$before" 'a store that was looked at'
expect_status 1 as ci "$CLEAR" store check --repair --db $STORE 2>err.txt
expect_match "$(cat err.txt)" 'permission denied' 'a repair by another'
expect_status 1 "$CLEAR" store check --repair --db $STORE >check.txt 2>err.txt
expect_match "$(cat check.txt)" 'project victim: run .* lacks names' 'runs that lack names'
as ci "$CLEAR" push --json --db c.db --to $STORE --project victim >push.txt 2>err.txt || fail "push after a repair: $(cat err.txt)"
expect_match "$(cat push.txt)" "\"pushed\":0,\"known\":$runs" 'a push that brings names back'
"$CLEAR" store check --repair --db $STORE >check.txt 2>err.txt || fail "check after the push: $(cat check.txt err.txt)"
expect_equal "$(pg 'SELECT count(*) FROM clear.wanting')" 0 'runs that still lack names'
rm -f whole.db
"$PLAIN_CLEAR" pull -q all --from $STORE --project victim --db whole.db 2>err.txt || fail "pull after a repair: $(cat err.txt)"
for uuid in $(sql whole.db 'SELECT uuid FROM runs ORDER BY uuid LIMIT 5'); do
    for db in c.db whole.db; do "$PLAIN_CLEAR" export "$uuid" --db $db --format pprof -o $db.pb.gz >/dev/null 2>&1; done
    cmp c.db.pb.gz whole.db.pb.gz || fail "the export of run $uuid after a repair"
done

# ---- a server that lies ----
# Whatever one answer of it is changed to, clear ends with a status of its own, and no text of it becomes a path.
mkdir lies
export XDG_CACHE_HOME=$PWD/cache
tried=0 share=cat
half() { if [ -n "${SANITIZED_CLEAR:-}" ]; then sed -n 'p;n'; else cat; fi; } # as a_third: in the gate alone
lied() { # lied COMMAND...
    rm -f lies/.s.*
    for how in null words other lists twice none; do for n in 1 2 4 5 6 9 14; do echo $how $n; done; done | a_third 7 "$tried" | $share >wishes.txt
    timeout 900 python3 "$ROOT/tests/lying_server.py" "$PWD/lies" "$PG" "$@" <wishes.txt >lies.txt || fail "clear and a lying server: $(tail -1 lies.txt)"
    expect_equal "$(wc -l <lies.txt)" "$(wc -l <wishes.txt)" 'answers that were changed'
    [ "$(wc -l <lies.txt)" -ge 7 ] && [ "$(cut -d ' ' -f 1 lies.txt | sort -u | wc -l)" = 6 ] || fail "few answers were changed: $(cut -d ' ' -f 1,2 lies.txt)"
    tried=$((tried + 1)) # other ones of the next command
    awk '$3 < 0 || $3 > 2' lies.txt >died.txt
    [ ! -s died.txt ] || fail "$*: a lying server ended it: $(head -3 died.txt)"
    awk '$3 == 1 {found = 1} END {exit !found}' lies.txt || fail "$*: no lie was noticed"
}
# Runs that the store lacks, of names that it has.
cat >again.sh <<'SH'
cp c.db again.db
sqlite3 again.db "UPDATE runs SET content_hash = NULL, uuid = lower(hex(randomblob(4))) || substr(uuid, 9)"
exec "$CLEAR" push latest --to "$STORE" --project source --db again.db
SH
export STORE
lied sh again.sh
share=half # store_lost has others of a pull, and a run for the cache is fetched as pull does
lied sh -c 'rm -f lied.db; exec "$CLEAR" pull last=2 --from "$STORE" --project source --db lied.db'
lied sh -c 'rm -rf cache; exec "$CLEAR" doctor latest --db "$STORE" --project source'
lied "$CLEAR" trend alloc_bytes all --db "$STORE" --project source
expect_equal "$(find . -name '*words*')" '' 'files named by the server'
exit 0
