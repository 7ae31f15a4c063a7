#!/usr/bin/env bash
# clear report weblist=RE has pprof's functions, lines, instructions and values, for programs of several kinds; its page stands alone and
# is safe against what is in names and sources; without a binary, and without files, it shows what the run kept. And clear list.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"
. "$ROOT/tests/code.bash"
build_programs
build_go

same_page() { # same_page TOOLS RE FILE OPTIONS...: every other one with $PLAIN_CLEAR, of each sort of tools the others
    local tools=$1 regex=$2 file=$3 path=$TMP/$1 clear=$CLEAR
    shift 3
    [ $((compared % 2)) = 0 ] || clear=$PLAIN_CLEAR
    PATH=$path "$clear" report "weblist=$regex" "$@" "./$file" >got.html 2>got.err || fail "weblist=$regex $* $file: $(cat got.err)"
    PATH=$path "$viewer" -symbolize=none "$@" -output want.html "-weblist=$regex" "$file" 2>want.err || fail "pprof: $(cat want.err)"
    "$ROOT/tests/weblist_diff.py" want.html got.html || fail "$tools: weblist=$regex $* $file"
    [ ! -s got.err ] || fail "weblist=$regex $* $file said: $(cat got.err)"
    compared=$((compared + 1))
}
compared=0
sorts=(gnu)
[ -x llvm/llvm-objdump ] && [ -x llvm/llvm-symbolizer ] && sorts+=(llvm)
for tools in "${sorts[@]}"; do
    for file in pie nopie; do
        same_page "$tools" hot_ $file.pb.gz
        same_page "$tools" 'mix|step' $file.pb.gz -intel_syntax -sample_index=samples
    done
    same_page "$tools" 'shop\.cc$' library.pb.gz -unit=ms
    same_page "$tools" 'Stack<int>::|price' library.pb.gz
    same_page "$tools" hotHash hot.pb.gz
done
expect_between "$compared" 7 40 "comparisons"

# go tool pprof, with another disassembler and lines by Go's own reader: the values of lines.
pprof -output theirs.html -weblist=hotHash hot.pb.gz 2>/dev/null
"$CLEAR" report weblist=hotHash ./hot.pb.gz >got.html || fail "hot.pb.gz"
"$ROOT/tests/weblist_diff.py" --lines theirs.html >want
"$ROOT/tests/weblist_diff.py" --lines got.html >got
[ -s want ] || fail "go tool pprof has no line with a value"
expect_same_file got want "lines of go tool pprof"

# ---- a recursion counts once for a place; pprof counts it again for each time that a stack goes through ----
printf 'a;b;a;b 5\na;c 2\n' >loop.folded
for name in a b c; do
    "$CLEAR" report weblist="^$name\$" ./loop.folded >got.html || fail "loop"
    "$ROOT/tests/weblist_diff.py" --lines got.html
done >got
printf '%s\n' 'a 0 . 7' 'b 0 5 5' 'c 0 2 2' >want
expect_same_file got want "values of a recursion"

# ---- the page: alone, valid, nothing of a source is markup ----
same_page gnu hot_text pie.pb.gz
grep -q '&lt;script&gt;alert(&#39;%u&#39; &amp;&amp; \\&quot;x\\&quot;)&lt;/script&gt;' got.html || fail "the source is not shown as it is"
python3 - got.html <<'PY' || fail "the page"
import html.parser, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
class Page(html.parser.HTMLParser):
    tags, open, ids = set(), [], []
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        names = dict(attributes)
        assert not [name for name in names if name.startswith("on") or name in ("src", "style")], (tag, attributes)
        assert tag != "a" or names["href"].startswith("#f"), attributes
        if "id" in names: self.ids.append(names["id"])
        if tag not in ("meta", "input"): self.open.append(tag)
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag
page = Page()
page.feed(text)
assert not page.open, page.open
assert len(set(page.ids)) == len(page.ids)
assert page.tags <= set("html head meta style title body input label main header h1 h2 ul li nav a section p div span footer".split()), page.tags
assert "default-src 'none'" in text and "script-src" not in text
assert not re.search(r"(https?:)?//\w|url\(|@import", re.sub(r">[^<]*<", "><", text)), "something from elsewhere"
PY

# ---- hostile names and sources ----
printf '%s\n' '<b>x</b>"onmouseover=alert(1);</style><script>y 7' 'bad 3' >names.folded
"$CLEAR" ingest -q --db names.db --label names ./names.folded || fail "names"
sqlite3 names.db "UPDATE functions SET name = CAST(x'626164fffe016e616d65' AS TEXT) WHERE name = 'bad'" || fail "names"
for regex in '<b>x' '^bad'; do
    "$CLEAR" report --db names.db "weblist=$regex" names >got.html 2>err || fail "names: $(cat err)"
    LC_ALL=C grep -aq '<b>\|<script>y\|'$'\xff\|\x01' got.html && fail "a name is markup"
    iconv -f UTF-8 -t UTF-8 got.html >/dev/null || fail "not UTF-8"
done
grep -q '<h2>bad.*name</h2>' got.html || fail "the name that is not UTF-8"

# ---- no tools, no binary, no files ----
lines_of() { "$ROOT/tests/weblist_diff.py" --lines got.html | sed 's/^[^ ]* //'; }
code_rows() { grep -c '<div class=h[0-9]><span class=f>' got.html; }
"$CLEAR" report weblist=hot_sum ./pie.pb.gz >got.html || fail "hot_sum"
lines_of >want
mkdir empty kept
PATH=$TMP/empty "$CLEAR" report weblist=hot_sum ./pie.pb.gz >got.html 2>err || fail "without tools: $(cat err)"
expect_match "$(cat err)" '^clear: no objdump is installed' "without tools"
expect_equal "$(code_rows)" 0 "instructions without objdump"
expect_same_file <(lines_of) want "lines without objdump"
mv pie libshop.so kept/
"$CLEAR" report weblist=hot_sum ./pie.pb.gz >got.html 2>err || fail "without binary: $(cat err)"
expect_match "$(cat err)" "^clear: no machine code: $TMP/pie: No such file" "without binary"
expect_same_file <(lines_of) want "lines without binary"
cp nopie pie
"$CLEAR" report weblist=hot_sum ./pie.pb.gz >got.html 2>err || fail "another build: $(cat err)"
expect_match "$(cat err)" "another build" "another build"
expect_same_file <(lines_of) want "lines with another build"
rm pie

# A source that the run kept, under the path that the profile has; the file is another one meanwhile.
mkdir src
printf 'int one;\nint kept_line; /* <i> */\nint three;\n' >src/gone.c
source=$TMP/src/gone.c
cat >gone.raw.py <<PY
import sys
sys.argv = ["x"]
PY
printf 'gone 5\n' >gone.folded
"$CLEAR" ingest -q --db t.db --label gone ./gone.folded || fail "ingest"
sqlite3 t.db "UPDATE functions SET filename = '$source' WHERE name = 'gone';
    UPDATE location_lines SET line = 2 WHERE function_id = (SELECT id FROM functions WHERE name = 'gone');
    INSERT INTO source_texts (text, hash) SELECT CAST(readfile('$source') AS TEXT), '0123';
    INSERT INTO sources SELECT max(runs.id), '$source', 'source', (SELECT max(id) FROM source_texts) FROM runs" || fail "a stored source"
rm -r src gone.raw.py
"$CLEAR" report --db t.db weblist=gone gone >got.html 2>err || fail "stored: $(cat err)"
grep -q 'int kept_line; /\* &lt;i&gt; \*/' got.html || fail "the source that the run kept is not in the page"
expect_equal "$(lines_of)" "2 5 5" "the line of a stored source"
"$CLEAR" list gone --db t.db gone >out || fail "clear list"
expect_match "$(cat out)" '^ +5 +5 +2:int kept_line; /\* <i> \*/$' "clear list"
"$CLEAR" report list=gone --db t.db gone >want
expect_same_file out want "clear list and clear report list="

# ---- a transpiler's output: the lines of what a person wrote, with the code of the binary, and without it the same lines ----
cp "$ROOT/fixtures/ledger.cht" . && "$ROOT/fixtures/toy_clear.py" --to transpiled.zig -o ledger ledger.cht || fail "ledger"
"$CLEAR" profile -q --db ledger.db --cpu=off -o ledger.profile ./ledger >/dev/null || fail "ledger"
"$CLEAR" report --db ledger.db 'weblist=^(post|keep)$' -sample_index=alloc_objects >got.html || fail "ledger.cht"
lines_of >got
printf '%s\n' '6 1010 1010' '13 5 5' | sort >want
sort got | expect_same_file /dev/stdin want "lines of ledger.cht"
grep -A3 'for=x.*>6</span>' got.html | grep -q 'ledger.cht:6</span>' || fail "no code of line 6"
expect_equal "$(grep -c 'class=file>.*/ledger.cht</p>' got.html)" 2 "functions of ledger.cht"
[ "$(code_rows)" -gt 20 ] || fail "no code of ledger"
rm ledger ledger.cht transpiled.zig
"$CLEAR" report --db ledger.db 'weblist=^(post|keep)$' -sample_index=alloc_objects >got.html 2>err || fail "without files"
lines_of | sort | expect_same_file /dev/stdin want "lines of ledger.cht without files"
grep -q 'entry = Entry{ amount: amount' got.html || fail "the source that the run kept"

# ---- what is refused ----
status=0
"$CLEAR" report weblist=nobody ./nopie.pb.gz >out 2>err || status=$?
expect_equal "$status $(cat err)" "2 clear: no matches found for regexp: nobody (see clear report --help)" "no match"
status=0
"$CLEAR" list >out 2>err || status=$?
expect_equal "$status" 2 "clear list without a pattern"
