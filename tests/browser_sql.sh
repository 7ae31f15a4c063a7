# SQL in a browser: rows as they come, completion, cancel, errors, a result as a flame graph and as a chart.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_sql.py" || fail "the page of SQL"
