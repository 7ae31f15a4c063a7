# Names that mean harm to whoever looks at them: escape sequences for terminals, links for browsers, links to files. And who may read what
# clear writes.
. "$(dirname "$0")/lib.sh"
export LC_ALL=C HOME=$TMP
umask 022

# ---- a profile, a run and a warehouse all of whose texts hold escape sequences, quotation marks and markup ----
python3 - >evil.pb.gz <<'PYTHON' || fail "making evil.pb.gz"
import gzip, sys
from wire import block, number, varint

evil = "\x1b]0;owned\x07\x1b[2J\x9b31m\" URL=\"javascript:alert(1)\" x=\"</title><script>alert(1)</script>"
texts = ["", "samples", "count" + evil, "cpu", "nanoseconds" + evil, "main" + evil, "file" + evil, "key" + evil, "value" + evil, "unit" + evil,
         "/bin/module" + evil, "comment" + evil, "id" + evil, "javascript:alert(1)"]
out = block(1, number(1, 1) + number(2, 2)) + block(1, number(1, 3) + number(2, 4))
out += block(3, number(1, 1) + number(2, 4096) + number(3, 8192) + number(5, 10) + number(6, 12))
out += block(5, number(1, 1) + number(2, 5) + number(4, 6)) + block(5, number(1, 2) + number(4, 6))
for i in (1, 2):
    out += block(4, number(1, i) + number(2, 1) + number(3, 4100 + i) + block(4, number(1, i) + number(2, i * 7)))
out += block(4, number(1, 3) + number(2, 1) + number(3, 5000))
for stack in ((1, 2, 3), (2, 1), (3, 1)):
    labels = block(3, number(1, 7) + number(2, 8)) + block(3, number(1, 7) + number(3, 5) + number(4, 9))
    out += block(2, block(1, b"".join(map(varint, stack))) + block(2, varint(1) + varint(10)) + labels)
for text in texts:
    out += block(6, text.encode())
out += number(13, 11) + number(15, 13)
sys.stdout.buffer.write(gzip.compress(out))
PYTHON
evil=$(printf 'x\033]0;owned\007\033[2J\302\23331m" onload="alert(1)</title><script>alert(1)</script>')
"$CLEAR" ingest -q --db t.db --label "$evil" --tag "key=$evil" evil.pb.gz evil.pb.gz >/dev/null 2>err || fail "ingest of evil.pb.gz: $(cat err)"
"$CLEAR" profile -q --db t.db -o leak.profile --label "$evil" "$FIXTURES/leak" >/dev/null 2>err || fail "profile: $(cat err)"
sqlite3 t.db "UPDATE functions SET name = name || '$evil', filename = filename || '$evil'; UPDATE runs SET command = command || '$evil', host = '$evil';
    UPDATE mappings SET filename = filename || '$evil'; UPDATE profiles SET comments = json_array('$evil') WHERE kind <> 'heap';
    UPDATE objects SET name = '$evil', identity = identity || '$evil'; UPDATE processes SET executable = '$evil';
    INSERT INTO queries(name, description, params, sql, export) VALUES ('q$evil', '$evil', '[]', 'SELECT 1', '{}'), ('plain', '$evil', '[]', 'SELECT 1', '{}');
    UPDATE advice SET title = title || '$evil', text = text || '$evil'" || fail "planting texts"

plain() { # plain COMMAND...: no control character but tabs and line ends in what it prints on either stream
    "$@" >said 2>&1 </dev/null
    LC_ALL=C grep -qaP '[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]' said || return 0
    fail "$*: a control character in: $(head -c 300 said | od -c | head -20)"
}

plain "$CLEAR" runs --db t.db
plain "$CLEAR" runs --db t.db --json
plain "$CLEAR" query --db t.db --list
plain "$CLEAR" query --db t.db "@q$evil"
plain "$CLEAR" query --db t.db "SELECT * FROM runs"
plain "$CLEAR" query --db t.db --format markdown "SELECT * FROM runs"
plain "$CLEAR" query --db t.db "SELECT nothing AS \"$evil\""
plain "$CLEAR" schema --db t.db
plain "$CLEAR" shell --db t.db "SELECT 1"
plain "$CLEAR" ingest --db t.db "$evil"
plain "$CLEAR" top --db t.db "$evil"
plain "$CLEAR" "$evil"
for run in 1 2; do
    plain "$CLEAR" doctor --db t.db $run
    plain "$CLEAR" doctor --db t.db --cumulative --peek=main $run
    for report in top text tree traces tags raw comments list=main peek=main disasm=main folded callgrind dot csv; do
        if [ $run = 1 ]; then # all of it is a stranger's, and samples are all that it has
            plain "$CLEAR" report "$report" --db t.db $run
        else
            plain "$PLAIN_CLEAR" report "$report" --db t.db --kind heap $run
            plain "$PLAIN_CLEAR" report "$report" --db t.db $run
        fi
    done
done
plain "$CLEAR" doctor --db t.db --diff 1 2
plain "$CLEAR" doctor --db t.db --diff 2 2

# A terminal gets no control character of a query's either; a file has the text as it is.
if has_terminals; then
    script -qec "'$CLEAR' query --db t.db --format csv \"SELECT 'a' || char(27) || '[2J' || char(155) || 'b' AS x\"" /dev/null >said </dev/null
    expect_match "$(cat said)" '^a\?\[2J\?b' "csv on a terminal"
fi
expect_equal "$("$CLEAR" query --db t.db --format csv --no-header "SELECT char(27) || 'x' AS x" | od -An -tx1 | tr -d ' \n')" 1b780d0a "csv in a file"

# ---- pages and pictures: markup and links stay texts ----
for format in flamegraph dot svg weblist=main; do
    got=0
    "$CLEAR" report $format --db t.db --kind samples -o page.out 1 >/dev/null 2>err || got=$?
    if [ $got -ne 0 ]; then grep -q graphviz err || [ $format = weblist=main ] || fail "report $format: $(cat err)"; continue; fi
    python3 - page.out $format <<'PYTHON' || fail "$format: markup or a link of the profile's"
import re, sys
text = open(sys.argv[1], encoding="utf-8").read()
text = re.sub(r"<script><!\[CDATA\[.*?\]\]></script>", "", text, flags=re.S)  # the page's own
if sys.argv[2] == "dot":
    sys.exit(bool(re.search(r'(?<!\\)"\s*URL=', text)))
sys.exit("<script>alert" in text or bool(re.search(r'href="\s*javascript:', text, re.I)) or bool(re.search(r'onload="', text)))
PYTHON
done

# Whatever a name holds, graphviz draws it, and the picture is XML that shows it: as it is, or made visible; a very long one from its beginning.
if command -v dot >/dev/null; then
    echo "main;placeholder 5" >drawn.folded
    "$CLEAR" ingest -q --db drawn.db drawn.folded || fail "ingest of drawn.folded"
    python3 - "$CLEAR" <<'PYTHON' || fail "a picture of a name"
import sqlite3, subprocess, sys, xml.dom.minidom
for name, shown in [("bell\x07x", "bell\\u0007x"), ("esc\x1b[2J", "esc\\u001b[2J"), ("delete\x7f", "delete\\u007f"), ("no\ufffecharacter", "no\\ufffecharacter"), ("&#7;&amp;&", "&#7;&amp;&"),
                    ("back\\", "back\\"), ("\\N\\G", "\\N\\G"), ('quote"', 'quote"'), ("long_" * 5000, "long_" * 500), ("<b>", "<b>"), ("é\u202e", "é\u202e")]:
    warehouse = sqlite3.connect("drawn.db")
    warehouse.execute("UPDATE functions SET name = ? WHERE name <> 'main'", (name,))
    warehouse.commit()
    warehouse.close()
    drawn = subprocess.run([sys.argv[1], "report", "-svg", "--db", "drawn.db", "-output=-", "1"], stdout=subprocess.PIPE, check=True).stdout
    texts = "".join(node.firstChild.data for node in xml.dom.minidom.parseString(drawn).getElementsByTagName("text"))
    assert shown in texts, (name[:40], texts[:400])
PYTHON
fi

# ---- a run directory with a link to a file of the reader's ----
echo "main;secret 5" >private.folded
cp -r leak.profile linked.profile && rm -f linked.profile/heap.pb.gz linked.profile/alloc.txt linked.profile/run.txt.gz
ln -s "$TMP/private.folded" linked.profile/heap.pb.gz
expect_status 1 "$CLEAR" ingest --db links.db linked.profile >/dev/null 2>err
expect_match "$(cat err)" "heap.pb.gz: is a symbolic link" "a link in a run directory"

# ---- a directory of files from a stranger: links that lead out of it, and names of files ----
mkdir -p files/below && cp evil.pb.gz files/below/one.pb.gz && ln -s one.pb.gz files/below/two.pb.gz && ln -s "$TMP/private.folded" files/three.folded
ln -s "$TMP/leak.profile" files/four.profile && echo "main;named 5" >"files/$(printf 'a\033[2Jb').folded" && ln -s / files/root
expect_status 1 "$CLEAR" ingest --db links.db files >out 2>err
for link in three.folded four.profile root; do
    expect_match "$(cat err)" "^clear: files/$link: is a symbolic link that leads out of files: name it to read it$" "a link to $link"
done
expect_equal "$(grep -c two.pb.gz out) $(sql links.db "SELECT count(*) FROM functions WHERE name IN ('secret', 'named')")" '1 1' "what was read: $(cat out err)"
plain "$CLEAR" ingest --db links.db files
expect_status 0 "$CLEAR" ingest --db links.db files/three.folded >out 2>err

# ---- files that are written where somebody put a link ----
echo precious >precious.txt && mkdir out.profile && ln -s "$TMP/precious.txt" out.profile/heap.pb.gz && ln -s precious.txt own.svg || fail "links"
"$CLEAR" profile -q --db out.db -o out.profile "$FIXTURES/leak" >/dev/null 2>err
expect_equal "$(cat precious.txt)" precious "what a link in a run directory leads to"
gunzip <out.profile/heap.pb.gz >/dev/null && [ ! -L out.profile/heap.pb.gz ] || fail "the file in the run directory: $(cat err)"
rm out.profile/heap.pb.gz && ln -s "$TMP/precious.txt" out.profile/heap.pb.gz
"$CLEAR" export --db out.db 1 -o out.profile/ >out 2>err || fail "export to a directory: $(cat err)"
expect_equal "$(cat precious.txt)" precious "what a link in a directory leads to"
if [ "$(id -u)" = 0 ]; then
    ln -s precious.txt planted.svg && chown -h 65534 planted.svg
    expect_status 1 "$CLEAR" export --db out.db --kind heap -o planted.svg 1 2>err
    expect_equal "$(grep -c 'planted.svg: is a symbolic link of another user' err) $(cat precious.txt)" "1 precious" "a planted link: $(cat err)"
fi
"$CLEAR" export --db out.db --kind heap -o own.svg 1 2>err || fail "a link of one's own: $(cat err)"
expect_match "$(head -c 300 precious.txt)" '<svg' "what one's own link leads to"
[ -L own.svg ] || fail "the link was replaced"

# ---- a spreadsheet that computes what is in a cell ----
printf '%s 1\n' "=cmd|'/C calc'!A0;main" "@sum(1);main" "-2+3;main" "-[View draw];main" "main;=x" >formula.folded
"$CLEAR" ingest -q --db formula.db formula.folded && "$CLEAR" export --db formula.db --kind samples -o formula.csv || fail "formula.csv"
python3 - <<'PYTHON' || fail "formulas: $(cat formula.csv)"
import csv
cells = [cell for row in csv.reader(open("formula.csv", newline="")) for cell in row]
assert len(cells) == 12, cells
assert not [cell for cell in cells if cell[0] in "=@+" or cell[0] == "-" and cell[1] != "["], cells
assert "-[View draw];main" in cells and "main;=x" in cells and "'@sum(1);main" in cells, cells
PYTHON

# ---- what is written is its owner's, whoever else may read the directory ----
expect_equal "$(stat -c %a t.db)" 600 "a new warehouse"
expect_equal "$(stat -c %a leak.profile)" 700 "a new run directory"
expect_equal "$(stat -c %a leak.profile/* | sort -u)" 600 "its files"
"$CLEAR" export --db t.db --kind heap -o new.pb.gz 2 >/dev/null 2>&1 || fail "export"
expect_equal "$(stat -c %a new.pb.gz)" 600 "a new file"
chmod 644 new.pb.gz t.db && chmod 755 leak.profile
"$CLEAR" export --db t.db --kind heap -o new.pb.gz 2 >/dev/null 2>&1 || fail "export"
"$CLEAR" profile -q --db t.db -o leak.profile "$FIXTURES/leak" >/dev/null 2>&1 || fail "profile"
expect_equal "$(stat -c %a new.pb.gz t.db leak.profile leak.profile/heap.pb.gz | tr '\n' ' ')" "644 644 755 644 " "what its owner lets others read"
(umask 277 && "$CLEAR" export --db t.db --kind heap -o narrow.pb.gz 2) >/dev/null 2>&1 || fail "export"
expect_equal "$(stat -c %a narrow.pb.gz)" 400 "a file under a narrow umask"
