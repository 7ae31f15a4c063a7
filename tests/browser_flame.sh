# The flame graph in a browser: zoom, search, filters, sandwich, difference, menu, downloads, all by keys, and every state by its URL.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_flame.py" || fail "the flame graph"
