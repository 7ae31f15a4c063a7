# A run as one HTML file (clear export --html): every page but SQL and Windows opens from the file, without a server and with the network off,
# and has the figures that clear prints; names that mean harm do none; the same run is the same file, of 5 MiB at most.
# plain: the scripts of the pages
# timeout: 600
. "$(dirname "$0")/lib.sh"
needs_browser
cp "$ROOT/fixtures/fault_tiny_allocs.c" parser.c
"$CC" -O1 -g -fno-omit-frame-pointer -I "$ROOT/fixtures" -o parser parser.c || fail "compiling the parser"
"$CLEAR" profile -q --db t.db --label parser -o parser.profile --cpu=999 ./parser >/dev/null || fail parser
"$CLEAR" profile -q --db t.db --label again -o again.profile --cpu=999 ./parser >/dev/null || fail parser
"$CLEAR" profile -q --db t.db --label books -o books.profile --trace --cpu=999 "$FIXTURES/wait_books" 5 >/dev/null || fail wait_books
"$CLEAR" export --db t.db --html books -o one.html && "$CLEAR" export --db t.db --html books -o other.html || fail "clear export --html"
cmp one.html other.html || fail "two files of one run differ"
mkdir elsewhere && mv one.html elsewhere/books.html # without the warehouse
refused() { # refused REGEX OPTION...: a usage error, and no file
    local regex=$1
    shift
    expect_status 2 "$CLEAR" export --db t.db --html "$@" 2>refused.txt
    expect_match "$(cat refused.txt)" "$regex" "$*"
    [ ! -e no.html ] || fail "a file was written: $*"
}
refused 'give -o FILE' books
refused 'the pages choose the rest' books --kind heap -o no.html
refused "not also 'again'" parser again -o no.html
refused "no run 'nobody'" parser --base nobody -o no.html
expect_status 1 "$CLEAR" export --db t.db --html parser.c -o no.html 2>refused.txt
expect_match "$(cat refused.txt)" '^clear: parser.c: .*no known format' 'a file that is no profile'

python3 "$ROOT/tests/browser_file.py" || fail "a run as a file"
check_db t.db
