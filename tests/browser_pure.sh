# The modules of the web pages that do not touch the page: state and URL, keys, figures and names as text, colours, trees and their layout.
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/browser_pure.py" || fail "the pure modules"
