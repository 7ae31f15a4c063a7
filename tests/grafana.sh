# The dashboards for Grafana (packaging/grafana): they are what their generator writes, and each of their questions is right in a warehouse, by the stock
# sqlite3, and in a store, by psql.
# plain: SQL of the dashboards; what clear does of it, the tests of views and stores do too
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/postgres.sh"

cp -r "$ROOT/packaging/grafana" . && python3 grafana/generate || fail generate
for kind in sqlite postgresql; do expect_same_file grafana/$kind.json "$ROOT/packaging/grafana/$kind.json" "the dashboard of $kind"; done

for times in 1 2 3; do
    "$CLEAR" profile -q --db t.db --label 'it'\''s' --cpu=off "$FIXTURES/fault_leak" >/dev/null || fail 'a recording'
done
"$CLEAR" profile -q --db t.db --cpu=off "$FIXTURES/heap_counts" >/dev/null || fail 'a recording without a label'
cat >asked.py <<'PY' # asked.py KIND PANEL VARIABLES: the SQL of a panel, or of a variable, as Grafana asks it
import json, re, sys
kind, name, figure, labels = sys.argv[1:]
board = json.load(open(f'grafana/{kind}.json'))
assert [one['name'] for one in board['templating']['list']] == ['project'] * (kind == 'postgresql') + ['label', 'figure']
texts = {one['name']: one['query'] for one in board['templating']['list']}
for panel in board['panels']:
    target, = panel['targets']
    texts[panel['title'].replace('$figure', 'FIGURE')] = target['queryText' if kind == 'sqlite' else 'rawSql']
sql = texts[name].replace('$figure', figure).replace('$project', 'default').replace('${label:sqlstring}', labels)
sql = re.sub(r'\$__timeFilter\((.*?\))\)', r"(\1 BETWEEN now() - interval '1 day' AND now() + interval '1 day')", sql)
sql = sql.replace('$__from', '0').replace('$__to', '9999999999999')
assert '$' not in sql, sql
print(sql)
PY
ask() { # ask KIND NAME [FIGURE [LABELS]]
    python3 asked.py "$1" "$2" "${3:-alloc_bytes}" "${4:-"'it''s', ''"}" >asked.sql || fail "$1: $2"
    if [ "$1" = sqlite ]; then sqlite3 -readonly t.db <asked.sql; else psql -XqAt -v ON_ERROR_STOP=1 -f asked.sql; fi 2>err.txt || fail "$1: $2: $(cat err.txt asked.sql)"
}

postgres_start
"$CLEAR" store init --db "$STORE" >init.txt 2>&1 && "$CLEAR" push -q --db t.db --to "$STORE" all 2>err.txt || fail "push: $(cat init.txt err.txt)"
expect_equal "$(ask postgresql project)" default 'projects'
"$CLEAR" runs --db t.db --json >runs.json
figures=$(python3 -c "import json; print('\n'.join(str(run['alloc_bytes']) for run in reversed(json.load(open('runs.json')))))")
for kind in sqlite postgresql; do
    expect_equal "$(ask $kind label)" $'\n'"it's" "labels of $kind"
    expect_equal "$(ask $kind 'FIGURE over the runs' | cut -d'|' -f2)" "$figures" "a figure over the runs of $kind"
    expect_equal "$(ask $kind 'FIGURE over the runs' alloc_bytes "'it''s'" | wc -l)" 3 "a label of $kind"
    expect_equal "$(ask $kind Runs | wc -l)" 4 "runs of $kind"
    expect_equal "$(ask $kind 'Findings of the newest runs' | grep -c '|leak|')" 3 "findings of $kind"
    expect_equal "$(ask $kind 'Functions of the newest run, by FIGURE' alloc_bytes "'it''s'" | head -n 1 | cut -d'|' -f2)" \
        "$(sqlite3 t.db "SELECT sum(alloc_bytes) FROM heap WHERE run_id = 3 GROUP BY function ORDER BY 1 DESC LIMIT 1")" "the largest function of $kind"
done
