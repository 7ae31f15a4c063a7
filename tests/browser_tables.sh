# The pages with tables in a browser: runs and what is chosen of them, functions by cost; every number as clear prints it.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_tables.py" || fail "the pages with tables"
