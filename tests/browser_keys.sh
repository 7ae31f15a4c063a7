# The web pages by keys alone: every page, the help, menus, the search field, colours; narrow windows and paper.
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_keys.py" || fail "the pages by keys"
