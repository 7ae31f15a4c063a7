# The timeline of a traced run in a browser: its events and stacks as sqlite3 has them, zoom, groups of threads, the way from a wait to its owner, its flame graph.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
"$CLEAR" profile -q --db t.db --label books -o books.profile --trace "$FIXTURES/wait_books" 5 >/dev/null || fail wait_books
"$CLEAR" profile -q --db t.db --label burn -o burn.profile --trace=all --cpu=999 "$FIXTURES/cpu_burn" threads 30 >/dev/null || fail cpu_burn
"$CLEAR" profile -q --db t.db --label many -o many.profile --trace "$FIXTURES/wait_books" 1 >/dev/null || fail wait_books
"$CLEAR" profile -q --db t.db --label plain -o plain.profile "$FIXTURES/heap_counts" >/dev/null || fail heap_counts
python3 "$ROOT/tests/browser_timeline.py" || fail "the timeline"
check_db t.db
