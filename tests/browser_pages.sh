# The web pages of findings, comparisons, callers, labels, graphs, code, trends, windows, locks and channels: every number as clear prints it.
. "$(dirname "$0")/lib.sh"
needs_browser
cp "$ROOT/fixtures/fault_tiny_allocs.c" parser.c
"$CC" -O1 -g -fno-omit-frame-pointer -I "$ROOT/fixtures" -o parser parser.c || fail "compiling the parser"
python3 "$ROOT/tests/browser_pages.py" || fail "a page"
