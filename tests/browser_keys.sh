# The web pages by keys alone: every page, the help, menus, the search field, colours; narrow windows and paper.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_keys.py" || fail "the pages by keys"
