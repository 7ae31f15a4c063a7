#!/usr/bin/env bash
# clear report, top, tree, peek: which runs and kinds they are about, sums against SQL, recursion, sets, bases, both ways to
# write an option, patterns that would never end, and what --all promises. (The bytes themselves: report_parity.sh.)
# quick
# build: plain
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=$TMP/t.db TZ=UTC

refuse() { # refuse STATUS TEXT ARGUMENTS...
    local want=$1 text=$2 got=0
    shift 2
    "$CLEAR" "$@" >out 2>err || got=$?
    expect_equal "$got" "$want" "status of clear $*"
    expect_equal "$(cat err)" "clear: $text" "clear $*"
    [ ! -s out ] || fail "clear $* wrote on standard output"
}

# What a report says of each function, as "FUNCTION FLAT CUM", sorted.
figures() { "$CLEAR" "$@" | awk 'seen { print $6, $1, $4 } $1 == "flat" && $2 == "flat%" { seen = 1 }' | sort; }

# ---- sums: the same stacks, summed by SQL ----
profile -q -o first.profile --cpu off "$FIXTURES/heap_counts" >/dev/null || fail "heap_counts"
profile -q -o second.profile --cpu off "$FIXTURES/heap_counts" >/dev/null || fail "heap_counts again"
leaves() { # leaves RUNS-CONDITION: allocated bytes by leaf function
    sql "$TMP/t.db" "SELECT frames.function || ' ' || sum(alloc_bytes) FROM sites JOIN profiles ON profiles.id = profile_id
        JOIN frames ON frames.trace_id = sites.trace_id AND frames.depth = 0 WHERE $1 GROUP BY frames.function HAVING sum(alloc_bytes) > 0" | sort
}
alloc=(--kind heap --sample_index alloc_space --unit B --trim=false)
flat() { "$CLEAR" top "${alloc[@]}" "$@" | awk 'seen && $1 != 0 { sub(/B$/, "", $1); print $6, $1 } $1 == "flat" && $2 == "flat%" { seen = 1 }' | sort; }
flat latest >got
leaves "run_id = 2" >want
[ -s want ] || fail "heap_counts allocated nothing"
expect_same_file got want "flat bytes of one run"
flat 1..2 >got
leaves "1" >want
expect_same_file got want "flat bytes of two runs"
flat 2 --base 1 >got
expect_equal "$(cat got)" "" "the same program less itself"
flat 1,2 --base 1 >got
leaves "run_id = 2" >want
expect_same_file got want "two runs less one"

# ---- recursion: once for a sample ----
printf 'a;b;a;b 5\na;c 2\n' >loop.folded
figures top -cum ./loop.folded >got
printf '%s\n' 'a 0 7' 'b 5 5' 'c 2 2' >want
expect_same_file got want "values of a recursion"
"$CLEAR" peek '^a$' ./loop.folded | awk -F'|' '/\|/ { print $2 }' | tr -s ' ' >got
printf ' %s\n' b a b c >want
expect_same_file got want "callers and callees of a recursion"

# ---- words and options ----
"$CLEAR" report top -cum -focus=b ./loop.folded >one
"$CLEAR" top --focus b --cum=true -- ./loop.folded >two
"$CLEAR" report --text --sort=cum --focus=b -o three ./loop.folded
expect_same_file two one "the same options, written otherwise"
expect_same_file three one "the same report, into a file"
"$CLEAR" report peek=b ./loop.folded >one
"$CLEAR" peek b ./loop.folded >two
expect_same_file two one "peek"
"$CLEAR" report tree ./loop.folded >one
"$CLEAR" tree ./loop.folded >two
expect_same_file two one "tree"
"$CLEAR" ingest -q --label loop ./loop.folded
"$CLEAR" tree loop >two
expect_same_file two one "a run instead of its file"

# ---- kinds ----
expect_match "$("$CLEAR" top 2)" '^Type: alloc_space$' "heap where nothing is said, and of one that frees nearly all, what was allocated"
expect_match "$("$CLEAR" top --kind lock 2)" '^Type: delay$' "the kind that is asked for"
expect_match "$("$CLEAR" top loop)" '^Type: samples$' "the only kind"
refuse 2 "$TMP/t.db: run 3 has no heap profile; it has: samples (see clear top --help)" top --kind heap loop
refuse 2 "no one kind of profile is in all of these runs; give --kind (see clear top --help)" top 2 loop

# ---- what is refused ----
refuse 2 "no report: clear report top, tree, peek=REGEX, ...; or commands on standard input, which is empty (see clear report --help)" report
refuse 2 "no report and no run is called 'tres'; did you mean tree? (see clear report --help)" report tres
refuse 2 "peek needs a pattern, as in peek=main (see clear report --help)" report peek
refuse 2 "only one report at a time: top or tree (see clear report --help)" report --top --tree
refuse 2 "nodecount must be a number, not 'many' (see clear top --help)" top --nodecount=many
refuse 2 "trim must be true or false, not 'no' (see clear top --help)" top --trim=no
refuse 2 "divide_by must not be 0 (see clear top --help)" top --divide_by=0 loop
refuse 2 "normalize needs a base: --base TARGET (see clear top --help)" top --normalize loop
refuse 2 "base and diff_base exclude each other (see clear top --help)" top --base 1 --diff_base 1 loop
refuse 2 "focus 'x(': missing closing parenthesis, at character 3 (see clear top --help)" top --focus 'x(' loop
refuse 2 "sample_index 9: it must be 0 to 0, or one of: samples (see clear top --help)" top --sample_index 9 loop
refuse 2 "unknown option --focsu; did you mean --focus? (see clear top --help)" top --focsu=x
refuse 1 "no function matches 'nobody'" peek nobody loop

# ---- a pattern that would take ages ----
name=b$(printf 'a%.0s' {1..60})
printf '%s;main 1\n' "$name" >ages.folded
got=0
timeout 20 "$CLEAR" top '--focus=(a|aa)+[bc]' ./ages.folded >out 2>err || got=$?
expect_equal "$got|$(cat out)" "2|" "a pattern that explodes"
expect_match "$(tail -1 err)" "^clear: focus '\(a\|aa\)\+\[bc\]': cannot be matched with 'ba+\.\.\.' \(match limit exceeded\)" "a pattern that explodes"

# ---- --all ----
expect_match "$("$CLEAR" top --all 2)" '^All [0-9]+ nodes: exact, nothing truncated$' "an exact recording"
profile -q -o third.profile --sample 2 --cpu off "$FIXTURES/heap_counts" >/dev/null || fail "heap_counts sampled"
expect_match "$("$CLEAR" top --all --kind heap)" '^All [0-9]+ nodes: nothing left out; sampled, one in 2 ' "a sampled recording"

# ---- every option that pprof has is known: taken, or refused with what to use instead ----
if command -v go >/dev/null; then
    go tool pprof -help 2>&1 | grep -oE '^ +-[a-z_]+' | tr -d ' ' | sort -u >flags
    [ "$(wc -l <flags)" -ge 80 ] || fail "pprof -help lists $(wc -l <flags) flags"
    while read -r flag; do
        "$CLEAR" report "$flag=1" --db none.db >out 2>err </dev/null
        ! grep -q 'unknown option' err || fail "$flag: $(cat err)"
    done <flags
fi
refuse 2 "clear report has no -jpg: use -png or -svg, with -o FILE (see clear report --help)" report -jpg ./loop.folded
refuse 2 "symbolize=nearby: expected none, local, fastlocal, remote, force, or demangle=none, full, templates or default, with colons between (see clear top --help)" top -symbolize=nearby loop
"$CLEAR" top --buildid=c0ffee --add_comment=hello "$FIXTURES/leak" loop >got
expect_equal "$(head -n 3 got)" $'File: leak\nBuild ID: c0ffee\nhello' "what is known better than the profile"

# ---- options that show a report in another program ----
mkdir views bin
ln -s "$(command -v dot)" bin/dot
printf '#!/bin/bash\ncp "$1" "%s/new.$$" && mv "%s/new.$$" "%s/seen"\n' "$TMP" "$TMP" "$TMP" | tee browser >bin/eog
printf '#!/bin/bash\nset -- "$2"; . "%s/bin/eog"\n' "$TMP" >bin/gv
chmod +x browser bin/eog bin/gv
ln -s "$(command -v cp)" "$(command -v mv)" "$(command -v bash)" bin
shows() { # shows WANT ARGUMENTS...: the program is given what WANT has, and the file stays and is named
    local want=$1 tries=0
    shift
    rm -f seen
    PATH=$TMP/bin TMPDIR=$TMP/views BROWSER=$TMP/browser "$CLEAR" "$@" >out 2>err || fail "clear $*: $(cat err)"
    while [ ! -s seen ] && [ "$tries" -lt 600 ]; do sleep 0.05; tries=$((tries + 1)); done
    expect_same_file seen "$want" "what is shown by clear $*"
    expect_same_file "$(sed -n 's/^clear: .* shows \(.*\)$/\1/p' err)" "$want" "the file that clear $* names"
}
"$CLEAR" report -svg ./loop.folded >want.svg
"$CLEAR" report -ps ./loop.folded >want.ps
shows want.svg report -web ./loop.folded
shows want.svg top -web ./loop.folded
shows want.svg report -eog ./loop.folded
shows want.ps report -gv ./loop.folded
PATH=$TMP/bin TMPDIR=$TMP/views "$CLEAR" report -web -o got.svg ./loop.folded || fail "-web -o"
expect_same_file got.svg want.svg "-web into a file"
rm bin/gv
got=0
PATH=$TMP/bin TMPDIR=$TMP/views "$CLEAR" report -gv ./loop.folded >out 2>err || got=$?
expect_equal "$got" 1 "status where gv is not there"
expect_match "$(cat err)" "^clear: gv: No such file or directory; the page is $TMP/views/clear-.*/report1\.ps$" "no gv"
expect_same_file "$(sed 's/.* the page is //' err)" want.ps "what gv would have shown"
got=0
env -u BROWSER -u DISPLAY PATH="$TMP/bin" TMPDIR="$TMP/views" "$CLEAR" report -web ./loop.folded >out 2>err || got=$?
expect_equal "$got" 1 "status without a browser"
expect_match "$(cat err)" "^clear: no web browser was found \(set BROWSER\); the page is $TMP/views/clear-.*/report1\.svg$" "no browser"
"$CLEAR" report -weblist=main 1 >want.html 2>/dev/null
expect_match "$(head -n 1 want.html)" '<!DOCTYPE html>' "weblist writes the page where no terminal is"
! has_terminals || TMPDIR=$TMP/views BROWSER=$TMP/browser script -qec "'$CLEAR' report -weblist=main 1" /dev/null >out 2>&1 </dev/null
! has_terminals || expect_same_file "$(tr -d '\r' <out | sed -n 's/^clear: the browser shows //p')" want.html "weblist on a terminal"
