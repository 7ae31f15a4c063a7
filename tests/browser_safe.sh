# Names with markup, of 10 KB, and with marks that turn the direction of writing are harmless text on every page, and so are URLs.
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_safe.py" || fail "names that mean harm"
