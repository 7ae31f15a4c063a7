# The Python package: installed by pip from the tree, it says what clear query says, writes nothing, and makes HTML in which names are data.
. "$(dirname "$0")/lib.sh"

cp -r "$ROOT/packaging/python" source || fail "copy"
/usr/bin/python3 -m pip install --quiet --no-index --no-deps --no-build-isolation --no-cache-dir --target site ./source >pip.txt 2>&1 || fail "pip: $(tail -5 pip.txt)"
"$CLEAR" profile -q --no-files --db t.db "$FIXTURES/fault_tiny_allocs" >/dev/null || fail "fault_tiny_allocs"
printf 'main;<script>alert(1)</script>;a&b 5\nmain;"quoted" 7\n' >names.folded
"$CLEAR" ingest -q --db t.db --label 'it'"'"'s' names.folded || fail "names.folded"
cp t.db before.db
PYTHONPATH=site /usr/bin/python3 - "$CLEAR" <<'PY' || fail "the package"
import json, subprocess, sys
import xml.dom.minidom
import clear_profiles

def asked(sql):
    return json.loads(subprocess.run([sys.argv[1], "query", "--db", "t.db", "--rows", "0", "--format", "json", sql], check=True, capture_output=True, text=True).stdout)

with clear_profiles.open("t.db") as warehouse:
    assert [row["id"] for row in warehouse.runs()] == [row["id"] for row in asked("SELECT id FROM runs ORDER BY started_ns DESC, id DESC")]
    findings = warehouse.findings(1)
    assert [(row["code"], row["subject"]) for row in findings] == [(row["code"], row["subject"]) for row in asked("SELECT code, subject FROM doctor WHERE run_id = 1")]
    assert ("arena", "copy_token") in [(row["code"], row["subject"]) for row in findings], findings
    assert isinstance(findings[0]["evidence"], dict) and isinstance(findings[0]["trace_ids"], list)
    assert "copy_token" in findings._repr_html_()
    heap = warehouse.heap(1)
    total = asked("SELECT sum(alloc_bytes) AS bytes, count(*) AS stacks FROM heap WHERE run_id = 1")[0]
    assert sum(row["alloc_bytes"] for row in heap) == total["bytes"] and len(heap) == total["stacks"]
    flame = warehouse.flame("heap", run=1)
    assert flame.total == total["bytes"]
    assert any("copy_token" in stack for stack in flame.stacks)
    assert "copy_token" in flame._repr_html_()
    labelled = warehouse.run("it's")
    kind = warehouse.query("SELECT kind FROM profiles WHERE run_id = :run", run=labelled)[0]["kind"]
    hostile = warehouse.flame(kind, run="it's")
    assert hostile.folded() == 'main;"quoted" 7\nmain;<script>alert(1)</script>;a&b 5\n', hostile.folded()
    page = hostile._repr_html_()
    xml.dom.minidom.parseString(page)
    assert "<script" not in page and "&lt;script&gt;" in page, page
    assert "<script" not in clear_profiles.Rows([{"<script>": "<script>"}])._repr_html_()
    for wrong in (lambda: warehouse.run(99), lambda: warehouse.run("nobody"), lambda: warehouse.flame("lock", run=1, value="x"), lambda: warehouse.flame("goroutine", run=1)):
        try:
            wrong()
        except clear_profiles.ClearError as error:
            print(error)
        else:
            raise AssertionError("no error")
    try:
        warehouse.flame("heap-peak", run=1)
    except clear_profiles.ClearError as error:
        assert "heap-peak is not drawn" in str(error), error
    else:
        raise AssertionError("heap-peak is drawn")
    try:
        warehouse.query("DELETE FROM runs")
    except Exception as error:
        print(error)
    else:
        raise AssertionError("it writes")
for path in ("missing.db", "names.folded"):
    try:
        clear_profiles.open(path)
    except clear_profiles.ClearError as error:
        print(error)
    else:
        raise AssertionError(path)
PY
[ ! -e missing.db ] || fail 'a file was made'
cmp t.db before.db || fail 'the warehouse was changed'

# One object a line has two names.
expect_equal "$("$CLEAR" query --db t.db --format ndjson 'SELECT id FROM runs')" "$("$CLEAR" query --db t.db --format jsonl 'SELECT id FROM runs')" ndjson
