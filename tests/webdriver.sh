# The browser of the tests (webdriver.py) does what the tests of the pages rely on: keys, mouse, colours, and it tells of each complaint.
# build: plain
. "$(dirname "$0")/lib.sh"
needs_browser
python3 "$ROOT/tests/webdriver_self.py" || fail "webdriver.py"
