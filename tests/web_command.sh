# clear web, and clear report -http: the page is opened in the browser, with what the command line says as its state; a file is shown
# without being stored, and nothing of it is left.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >browser <<'END'
#!/bin/sh
printf '%s\n' "$1" >"$OPENED"
END
chmod +x browser
export BROWSER=$PWD/browser OPENED=$PWD/opened TMPDIR=$PWD/scratch
mkdir scratch

opened_or_ended() { [ -s opened ] || ! kill -0 "$pid" 2>/dev/null; }
begin() { # begin NAME WORDS...: sets $pid and $page, what the browser got
    local name=$1
    shift
    rm -f opened
    "$CLEAR" "$@" >"$name.out" 2>"$name.err" &
    pid=$!
    wait_for "the browser of clear $*" opened_or_ended
    page=$(cat opened 2>/dev/null) || fail "clear $*: $(cat "$name.out" "$name.err")"
    expect_match "$(cat "$name.out")" "^serving .* at $(sed 's/[?.*+]/\\&/g' <<<"$page")$" "what clear $* prints"
}
stop() {
    local status=0
    kill -TERM "$pid"
    wait "$pid" || status=$?
    expect_equal "$status" 0 'status after SIGTERM'
}
get() { curl -sf "$@" || fail "curl $*"; }

"$CLEAR" profile -q --db t.db --label heaps -o heaps.profile "$FIXTURES/leaks" >/dev/null 2>&1 || fail leaks
"$CLEAR" profile -q --db t.db --label waits -o waits.profile "$FIXTURES/lock_contended" >/dev/null || fail lock_contended

begin latest web --db t.db
expect_match "$page" '^http://127\.0\.0\.1:[0-9]+/\?runs=latest(&kind=[a-z]+)?$' 'the latest run'
expect_match "$(get "$page")" '<!doctype html>|<!DOCTYPE html>' 'the page'
expect_equal "$(get "${page%%\?*}api/run" | python3 -c 'import json, sys; print(json.load(sys.stdin)["runs"][0]["label"])')" waits 'the run of the API'
stop
begin set web --db t.db 'heaps,waits'
expect_match "$page" '/\?runs=heaps%2Cwaits(&kind=[a-z]+)?$' 'a set'
stop
begin report report -http=127.0.0.1:0 -db t.db -kind=heap -focus='a b&c' -diff_base=waits heaps
expect_match "$page" '/\?runs=heaps&base=waits&kind=heap&f=a%20b%26c$' 'the state of a report'
stop
begin part report -http=: -db t.db -kind=heap --window=1 --base_window=-1 -diff_base=waits heaps
expect_match "$page" '/\?runs=heaps&base=waits&kind=heap&window=1&base_window=-1$' 'a window of a run'
stop
# Whatever the pages know, as pprof's letters; a port that is left out is a free one.
begin options report -http=: -db t.db -lines -unit=ms -nodecount=10 -nodefraction=0.1 -mean -drop_negative -tagroot=thread -tagleaf=a,b heaps waits
expect_match "$page" '^http://127\.0\.0\.1:[0-9]+/\?runs=heaps%2Cwaits&g=lines&n=10&nf=0\.1&unit=ms&mean=1&dropneg=1&tagroot=thread&tagleaf=a%2Cb$' 'the options of a report'
[ "${page%%/\?*}" != http://127.0.0.1:6060 ] || fail 'the port of clear serve'
stop

# A file takes the place of the warehouse, and is not stored.
"$CLEAR" export --db t.db heaps --kind heap -o heap.pb.gz || fail export
before=$(sql t.db 'SELECT count(*) FROM runs')
begin file web --db t.db heap.pb.gz
expect_equal "$(get "${page%%\?*}api/table?type=inuse_space" | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"])')" \
    "$("$CLEAR" report -json -db t.db heaps | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"])')" 'total of a file'
stop
# Several files are added up, and others subtracted: the figures are those of the same report.
total_of() { # PAGE REPORT'S WORDS...: its total and sum of what functions do themselves, of the page and of the report
    local parameters=${1#*\?} sum='import json, sys; all = json.load(sys.stdin); print(all["total"], sum(node["flat"] for node in all["nodes"]))'
    shift
    expect_equal "$(get "${page%%\?*}api/table?$parameters&report=top&n=10000&nf=0" | python3 -c "$sum")" \
        "$("$CLEAR" report -json -db t.db -nodecount=10000 -nodefraction=0 "$@" | python3 -c "$sum")" "$*"
}
printf 'main;parse 40\nmain 2\n' >one.folded
printf 'main;parse 30\nmain;eval 5\n' >two.folded
begin several web --db t.db one.folded ./two.folded
total_of "$page" one.folded two.folded
stop
begin difference report -http=: -db t.db -diff_base=two.folded one.folded
expect_match "$page" '\?runs=2&base=1$|\?runs=1&base=2$' 'two files against each other'
total_of "$page" -diff_base=two.folded one.folded
stop
# A program before a profile that has names already: its names stay.
begin program web --db t.db "$FIXTURES/leaks" heap.pb.gz
total_of "$page&si=inuse_space" -sample_index=inuse_space heap.pb.gz
stop
expect_equal "$(sql t.db 'SELECT count(*) FROM runs')" "$before" 'runs of the warehouse'
expect_equal "$(ls -A scratch)" '' 'what is left of a file'

# Without a browser the address is enough.
rm -f opened
"$CLEAR" web --no-browser --db t.db >quiet.out 2>quiet.err &
pid=$!
wait_for_text '^serving' quiet.out
get "$(sed -n 's/^serving .* at //p' quiet.out)" >/dev/null
stop
[ ! -e opened ] || fail 'a browser was started'

refuse() { # refuse STATUS REGEX WORDS...
    local want=$1 regex=$2
    shift 2
    expect_equal "$(timeout 60 "$CLEAR" "$@" >/dev/null 2>err.txt; echo $?)" "$want" "status of $*"
    expect_match "$(cat err.txt)" "$regex" "message of $*"
}
refuse 2 "no run 'nobody'" web --db t.db nobody
refuse 1 'none.pb.gz' web --db t.db ./none.pb.gz
refuse 2 'heap.pb.gz is a file and .heaps. is a run' web --db t.db heaps heap.pb.gz
refuse 2 'leave out top' report -http=:0 -top -db t.db heaps
expect_equal "$(ls -A scratch)" '' 'what is left after all'
