# Twelve questions that somebody brings to a profile, each answered in a browser by so many keys and clicks from the page that a run opens on, and no more:
# the table at the top of docs/browser.md.
# build: plain
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
cp "$ROOT/fixtures/shop.c" .
"$CC" -O1 -g -fno-omit-frame-pointer -pthread -o shop shop.c || fail "compiling the shop"
for orders in 1 4; do
    "$CLEAR" profile -q --db t.db --label shop --trace --interval 100ms --cpu=999 ./shop "$orders" >/dev/null || fail "the shop with $orders"
done
python3 "$ROOT/tests/browser_tasks.py" || fail "a task"
