#!/bin/bash
# clear.yaml: where it is looked for, what each key does, and what is said of a wrong one.
# quick
. "$(dirname "$0")/lib.sh"
export HOME=$TMP/home XDG_CONFIG_HOME=
mkdir -p home/.config/clear xdg/clear project/sub/deep other
{ cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" && echo "UPDATE runs SET source = 'x.profile' WHERE id = 1;"; } | sqlite3 project/t.db || fail "making t.db"
"$CLEAR" runs --db project/t.db >/dev/null || fail "opening t.db"
sum=$(sha256sum <project/t.db)

value() { # value DIRECTORY [OPTIONS...]: what @where says there
    (cd "$1" && "$CLEAR" query --db "$TMP/project/t.db" --no-header "${@:2}" @where 2>&1)
}
where() { # where FILE WORD
    printf 'queries:\n  where:\n    description: which file was read\n    sql: SELECT %s\n' "'$2'" >"$1"
}
# Found upward, then in the XDG directory, by default ~/.config; the first one counts alone; --config before all, in
# both places.
expect_match "$(value other)" "^clear: no saved query 'where'" "no configuration"
where home/.config/clear/clear.yaml home
expect_equal "$(value other)" home "~/.config/clear/clear.yaml"
where xdg/clear/clear.yaml xdg
expect_equal "$(XDG_CONFIG_HOME=$TMP/xdg value other)" xdg "\$XDG_CONFIG_HOME/clear/clear.yaml"
where project/clear.yaml project
expect_equal "$(XDG_CONFIG_HOME=$TMP/xdg value project/sub/deep)" project "a clear.yaml above"
where project/sub/clear.yaml sub
expect_equal "$(value project/sub/deep)" sub "the nearest one"
where mine.yaml mine
expect_equal "$(value project/sub --config "$TMP/mine.yaml")" mine "--config after the command"
expect_equal "$("$CLEAR" --config mine.yaml query --db project/t.db --no-header @where)" mine "--config before the command"
rm project/sub/clear.yaml
expect_equal "$("$CLEAR" --config missing.yaml runs 2>&1)" "clear: missing.yaml: No such file or directory" "a --config that is not there"
expect_equal "$("$CLEAR" --config mine.yaml 2>&1)" "clear: clear --config needs a file and a command: clear --config FILE COMMAND (see clear --help)" "--config alone"
# One that somebody else put there is not obeyed: it could run commands.
if [ "$(id -u)" = 0 ]; then
    where other/clear.yaml planted && chown 65534 other/clear.yaml
    expect_equal "$(value other)" "clear: $TMP/other/clear.yaml belongs to another user and is not read; --config $TMP/other/clear.yaml reads it
home" "somebody else's clear.yaml"
    rm other/clear.yaml
fi
rm home/.config/clear/clear.yaml

# The database, relative to the file that names it; --db and CLEAR_DB go before it.
echo "database: t.db" >project/clear.yaml
expect_equal "$(cd project/sub/deep && "$CLEAR" query --no-header "SELECT count(*) FROM runs")" 3 "database:"
expect_match "$(cd project/sub && CLEAR_DB=none.db "$CLEAR" runs 2>&1)" "^clear: none.db: no such file" "CLEAR_DB and database:"
expect_match "$(cd project/sub && "$CLEAR" runs --db other.db 2>&1)" "^clear: other.db: no such file" "--db and database:"
echo "database: $TMP/project/t.db" >other/clear.yaml
expect_equal "$(cd other && "$CLEAR" query --no-header "SELECT count(*) FROM runs")" 3 "an absolute database:"
rm other/clear.yaml

# Thresholds. Run 1, judged as dumps are: g_lock 5000 acquires, 50 % contended: atomic-fit (from 1000 and 10 %); insert_row+8 120, 42 %: contended
# (from 20 %), and its waits are 31 % of the run: starved where neither (from 10 %). From 60 % on none of them, and the file is as before.
codes() { (cd project && "$CLEAR" "$@"); }
ask="SELECT subject, code FROM doctor WHERE section = 'lock' ORDER BY subject"
strict='insert_row+8 contended server:g_lock atomic-fit'
mild='insert_row+8 ok server:g_lock ok'
rows() { codes query --format csv --no-header "$ask" | tr -d '\r' | grep -v '^0x5,' | tr ',\n' '  ' | sed 's/ $//'; }
expect_equal "$(rows)" "$strict" "codes by the rules as they are shipped"
printf 'database: t.db\nthresholds:\n  lock_contended_percent: 60\n  lock_fit_contended_percent: 60.0\n  lock_starved_percent: 60\n' >project/clear.yaml
expect_equal "$(rows)" "$mild" "codes by thresholds:"
expect_equal "$(codes query --no-header "SELECT name FROM rules WHERE value = 60 ORDER BY name" | xargs)" "lock_contended_percent lock_fit_contended_percent lock_starved_percent" "rules"
expect_equal "$(codes query --no-header "SELECT count(*) FROM doctor_lock WHERE code <> 'ok'")" 0 "doctor_lock"
expect_equal "$(codes doctor --json 1 | python3 -c 'import json, sys; print({row["code"] for row in json.load(sys.stdin) if row["section"] == "lock"})')" "{'ok'}" "clear doctor"
expect_equal "$(codes shell "SELECT count(*) FROM doctor_lock WHERE code <> 'ok'" | tail -1 | tr -d ' ')" 0 "clear shell"
expect_equal "$(sha256sum <project/t.db)" "$sum" "t.db after reading with thresholds"
expect_equal "$(sql project/t.db "SELECT count(*) FROM doctor_lock WHERE code <> 'ok'")" 2 "the file's own view"
# A view of the user's own in the file follows as well.
sqlite3 project/t.db "CREATE VIEW IF NOT EXISTS bad AS SELECT * FROM doctor_lock WHERE code <> 'ok'" || fail "a view"
expect_equal "$(codes query --no-header "SELECT count(*) FROM bad")" 0 "a user's view"

# What writes puts them into the file. Tags go on each run, those of git where there is one; --tag goes before them.
(cd project && git init -q -b trunk . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x) || fail "git"
cat >>project/clear.yaml <<'YAML'
tags:
  git_commit: auto
  git_branch: auto
  team: core
  stage: test
queries:
  mine:
    description: two numbers
    params: {a: {type: integer, default: 1}, b: {type: text}, c: {type: real, default: 0.5}, r: {type: run}}
    sql: |
      SELECT :a AS a, :b AS b, :c AS c, :r AS r
    export: {format: folded}
toolchain:
  .c: cc -g -O1 -o {output} {source}
YAML
expect_equal "$(codes query --json @mine b=x r=2)" '[{"a":1,"b":"x","c":0.5,"r":2}]' "a query of the configuration"
expect_match "$(codes query --list)" "^mine +a=1 b=\? c=0.5 r=\? +two numbers" "--list"
(cd project && "$CLEAR" profile -q --tag stage=prod -o "$TMP/out.profile" -- true) || fail "clear profile"
expect_equal "$(sql project/t.db "SELECT key || '=' || value FROM tags WHERE run_id = 4 ORDER BY key" | xargs)" \
    "git_branch=trunk git_commit=$(git -C project rev-parse HEAD) stage=prod team=core" "tags"
expect_equal "$(sql project/t.db "SELECT count(*) FROM doctor_lock WHERE code <> 'ok' AND run_id = 1")" 0 "thresholds in the file"
expect_equal "$(sql project/t.db "SELECT export FROM queries WHERE name = 'mine'")" '{"format":"folded"}' "the query in the file"
check_db project/t.db
cp project/clear.yaml other/ && (cd other && GIT_CEILING_DIRECTORIES=$TMP "$CLEAR" profile -q -o "$TMP/out.profile" -- true) || fail "clear profile without git"
expect_equal "$(sql other/t.db "SELECT key FROM tags ORDER BY key" | xargs)" "stage team" "tags without git"

# What is wrong is said with its place and the nearest key. `help` works all the same.
wrong() { # wrong PLACE-AND-MESSAGE: with the file on standard input
    local got=0 message
    cat >bad.yaml
    message=$("$CLEAR" --config bad.yaml runs --db project/t.db 2>&1 >out) || got=$?
    expect_equal "$got $message" "1 clear: bad.yaml:$1" "$(cat bad.yaml)"
    [ ! -s out ] || fail "it went on: $1"
    "$CLEAR" --config bad.yaml help >/dev/null 2>&1 && fail "clear --config reads its file at once"
    mkdir -p broken && cp bad.yaml broken/clear.yaml
    (cd broken && "$CLEAR" help >/dev/null && "$CLEAR" version >/dev/null) || fail "no help with a bad clear.yaml"
}
wrong "1:1: unknown key 'databse'; did you mean 'database'?" <<<"databse: x"
wrong "2:1: unknown key 'frobnicate'; valid keys are database, toolchain, thresholds, tags, queries, retention, filters, gates, push" <<<$'database: x\nfrobnicate: 1'
wrong "1:11: must be a text" <<<"database: [a]"
wrong "2:1: the key 'database' is given twice" <<<$'database: a\ndatabase: b'
long=$(head -c 900000 /dev/zero | tr '\0' x)
wrong "2:30: aliases repeat more than 16 MiB of text" < <(printf 'queries:\n  a: {description: one, sql: &long %s}\n' "$long" &&
    for i in {1..20}; do printf '  a%d: {description: one, sql: *long}\n' "$i"; done)
wrong "1:1: must be \`key: value\` lines" <<<"- database"
wrong "1:7: must be \`key: value\` lines" <<<"tags: none"
wrong "2:3: unknown threshold 'lock_contented_percent'; did you mean 'lock_contended_percent'?" <<<$'thresholds:\n  lock_contented_percent: 3'
wrong "2:3: unknown threshold 'channel_block_percent'; did you mean 'channel_blocked_percent'?" <<<$'thresholds:\n  channel_block_percent: 3'
wrong "2:3: unknown threshold 'x'; clear query \"SELECT * FROM rules\" lists them" <<<$'thresholds:\n  x: 3'
wrong "2:27: must be a number" <<<$'thresholds:\n  lock_contended_percent: many'
wrong "2:27: must be a number" <<<$'thresholds:\n  lock_contended_percent: "30"'
wrong "2:3: lock_contended_percent is out of range: 130" <<<$'thresholds:\n  lock_contended_percent: 130'
wrong "2:3: leak_warning_count is out of range: -1" <<<$'thresholds:\n  leak_warning_count: -1'
wrong "2:3: 'c' is not a file extension such as .c" <<<$'toolchain:\n  c: cc {source} {output}'
wrong "2:7: must be a command with {source} and {output}" <<<$'toolchain:\n  .c: cc {source}'
wrong "2:9: only git_commit and git_branch can be auto" <<<$'tags:\n  team: auto'
wrong "2:3: @hot-sites is one of clear's own queries: choose another name" <<<$'queries:\n  hot-sites: {description: x, sql: SELECT 1}'
wrong "2:6: \`sql:\` is missing" <<<$'queries:\n  q: {description: x}'
wrong "2:6: \`description:\` is missing" <<<$'queries:\n  q: {sql: SELECT 1}'
wrong "2:3: 'a b' is not a valid name: use letters, digits, - and _" <<<$'queries:\n  "a b": {description: x, sql: SELECT 1}'
wrong "2:7: unknown filter 'ignor'; did you mean 'ignore'?" <<<$'filters:\n  f: {ignor: x}'
wrong "2:13: must be true or false" <<<$'filters:\n  f: {mean: maybe}'
wrong "2:7: unknown filter 'colour'; it is an option of clear report: focus, ignore, ..." <<<$'filters:\n  f: {colour: x}'
wrong "2:7: unknown key 'sqll'; did you mean 'sql'?" <<<$'queries:\n  q: {sqll: SELECT 1}'
wrong "4:19: unknown type 'int'; types are run, integer, real, text" <<<$'queries:\n  q:\n    params:\n      top: {type: int}\n    description: x\n    sql: SELECT 1'
wrong "4:37: must be a whole number" <<<$'queries:\n  q:\n    params:\n      top: {type: integer, default: ten}\n    description: x\n    sql: SELECT 1'
wrong "4:12: \`type:\` is missing; types are run, integer, real, text" <<<$'queries:\n  q:\n    params:\n      top: {default: 1}\n    description: x\n    sql: SELECT 1'
wrong "2:40: unknown key 'colour'; valid keys are format, type, title, base" <<<$'queries:\n  q: {description: x, sql: y, export: {colour: red}}'
wrong "2:1: found character that cannot start any token" <<<$'database: x\n@'
message=$(printf 'database: \xff\n' >bad.yaml; "$CLEAR" --config bad.yaml runs 2>&1)
expect_match "$message" "^clear: bad.yaml: byte 10: " "a byte that is no UTF-8"
: >empty.yaml
expect_equal "$("$CLEAR" --config empty.yaml query --db project/t.db --no-header "SELECT 7")" 7 "an empty configuration"

# Views of a warehouse that somebody else made: a second statement in a view's text does not run, whoever reads the view.
cat "$ROOT/schema/tables.sql" "$ROOT/tests/saved_data.sql" | sqlite3 planted.db || fail "making planted.db"
"$CLEAR" runs --db planted.db >/dev/null || fail "opening planted.db"
printf 'thresholds:\n  lock_contended_percent: 10\n' >planted.yaml
sqlite3 -cmd ".dbconfig defensive off" planted.db "PRAGMA writable_schema = ON;
    UPDATE sqlite_schema SET sql = sql || '; VACUUM INTO ''$TMP/harmed1''' WHERE name = 'heap'" || fail "planting in a view of clear"
"$CLEAR" doctor --config planted.yaml --db planted.db >out 2>&1 || fail "clear's own views come from the program: $(cat out)"
sqlite3 -cmd ".dbconfig defensive off" planted.db "PRAGMA writable_schema = ON; INSERT INTO sqlite_schema(type, name, tbl_name, rootpage, sql)
    VALUES ('view', 'planted', 'planted', 0, 'CREATE VIEW planted AS SELECT 1; VACUUM INTO ''$TMP/harmed2''')" || fail "planting a view"
expect_status 1 "$CLEAR" doctor --config planted.yaml --db planted.db >out 2>&1
expect_match "$(cat out)" "planted.db: the text of a view has a second statement, which was not run" "a planted view"
[ ! -e harmed1 ] && [ ! -e harmed2 ] || fail "a planted statement ran"
