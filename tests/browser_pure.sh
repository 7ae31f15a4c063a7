# The modules of the web pages that do not touch the page: state and URL, keys, figures and names as text, colours, trees and their layout.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_pure.py" || fail "the pure modules"
