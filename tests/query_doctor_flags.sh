#!/bin/bash
# clear doctor --by --cumulative --focus --ignore --peek --top: figures against go tool pprof on a profile of Go's and against
# stacks worked out by hand; what each leaves of the findings; text and JSON; bad expressions.
# $CLEAR answers once in each way; about other figures and expressions $PLAIN_CLEAR does.
# build: plain
. "$(dirname "$0")/lib.sh"
export TZ=UTC NO_COLOR=
heap=$ROOT/fixtures/corpus/pprof/before_go_heap.pb.gz

# ---- every function's flat and cumulative figure is pprof's
functions() { # functions JSON-FILE: "flat cum name" of each function of the heap
    python3 -c 'import json, sys
for row in json.load(open(sys.argv[1])):
    if row["section"] == "function" and row["kind"] == "heap": print(row["flat"], row["cum"], row["function"])' "$1" | sort
}
as_pprof() { # as_pprof TYPE ARGUMENTS...: the same of pprof
    local type=$1
    shift
    pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 -sample_index="$type" -unit=B "$@" "$heap" 2>/dev/null |
        awk 'rows { sub(/B$/, "", $1); sub(/B$/, "", $4); name = $6; for (i = 7; i <= NF; i++) name = name " " $i; sub(/ \(inline\)$/, "", name); print $1, $4, name }
             $1 == "flat" { rows = 1 }' | sort
}
for by in bytes:alloc_space allocs:alloc_objects inuse_bytes:inuse_space inuse_allocs:inuse_objects; do
    "$PLAIN_CLEAR" doctor --json --by="${by%:*}" "$heap" >answer.json || fail "--by ${by%:*}"
    functions answer.json >got.txt
    as_pprof "${by#*:}" >want.txt
    [ -s want.txt ] || fail "pprof says nothing of ${by#*:}"
    expect_same_file got.txt want.txt "functions, --by ${by%:*}"
done
"$CLEAR" doctor --json --by=bytes --focus='flate\.' --ignore='NewWriter$|bytes\.Repeat' "$heap" >answer.json || fail "--focus --ignore"
functions answer.json >got.txt
as_pprof alloc_space -focus='flate\.' -ignore='NewWriter$|bytes\.Repeat' >want.txt
[ -s want.txt ] || fail "pprof's focus matches nothing"
expect_same_file got.txt want.txt "functions in focus"
# In text: sorted by the function itself, or with --cumulative by all it calls.
shown() { sed -n '/^heap by function/,/and .* more/p' | sed -n '4s/.*%  *//p'; }
by_cum=$(as_pprof alloc_space | sort -k2,2nr -k3 | sed -n 1p | cut -d' ' -f3)
expect_match "$("$CLEAR" doctor --by bytes "$heap" | shown)" '^flate.NewWriter ' "the first by itself"
expect_equal "$("$CLEAR" doctor --cumulative --json "$heap" | python3 -c 'import json, sys; print([row["function"] for row in json.load(sys.stdin) if row["section"] == "function"][0])')" \
    "$by_cum" "the first with --cumulative"

# ---- callers and callees are pprof's
"$CLEAR" doctor --json --by=bytes --peek='^encoding/json\.Marshal$' "$heap" >answer.json || fail "--peek"
pprof -peek='^encoding/json\.Marshal$' -sample_index=alloc_space -unit=B "$heap" 2>/dev/null >peek.txt
python3 - <<'PY' || fail "callers and callees: $(cat answer.json)"
import json, re
rows = [row for row in json.load(open('answer.json')) if row['section'] == 'peek']
assert len(rows) == 1 and rows[0]['function'] == 'encoding/json.Marshal', rows
callers, callees, node = [], [], None
for line in open('peek.txt'):
    edge = re.match(r' {20,}(\d+)B +\S+ \| +(.*?)( \(inline\))?$', line)
    own = re.match(r' *(\d+)B +\S+ +\S+ +(\d+)B +\S+ +\| (.*)$', line)
    if own: node = own
    elif edge: (callees if node else callers).append((int(edge[1]), edge[2]))
assert node and callers and callees
assert (rows[0]['flat'], rows[0]['cum']) == (int(node[1]), int(node[2]))
assert [(n['value'], n['function']) for n in rows[0]['callers']] == callers, (rows[0]['callers'], callers)
assert [(n['value'], n['function']) for n in rows[0]['callees']] == callees, (rows[0]['callees'], callees)
PY

# ---- by hand: folded stacks of which main is the root, once called again by what it calls
printf 'main;parse;read 30\nmain;parse 12\nmain;parse;main;read 5\nother;read 7\nread 2\n' >calls.folded
"$CLEAR" doctor --json --peek='^(main|read)$' calls.folded >answer.json || fail "--peek of folded stacks"
python3 - <<'PY' || fail "roots: $(cat answer.json)"
import json
rows = {row['function']: row for row in json.load(open('answer.json')) if row['section'] == 'peek'}
pairs = lambda name, side: [(n['function'], n['value']) for n in rows[name][side]]
assert sorted(rows) == ['main', 'read'], rows
# main is the root of 30 + 12 + 5, and called by parse in 5 of them; read is its own root in 2.
assert (rows['main']['flat'], rows['main']['cum'], rows['main']['total']) == (0, 47, 56)
assert pairs('main', 'callers') == [('<root>', 47), ('parse', 5)]
assert pairs('main', 'callees') == [('parse', 47), ('read', 5)]
assert (rows['read']['flat'], rows['read']['cum']) == (44, 44)
assert pairs('read', 'callers') == [('parse', 30), ('other', 7), ('main', 5), ('<root>', 2)]
assert pairs('read', 'callees') == []
PY
"$CLEAR" doctor --peek='^read$' calls.folded >report || fail "--peek in text"
expect_match "$(cat report)" '^read in samples, samples: 44 of 56$' "the function that is looked at"
expect_match "$(cat report)" '^  caller +7 +16 %  other$' "a caller and its share of the function"
expect_match "$(cat report)" '^  caller +2 +5 %  <root>$' "no caller at all"
expect_match "$(cat report)" '^  self +44 +100 %  read$' "the function itself"
expect_match "$("$CLEAR" doctor --peek='^read$' --top 1 calls.folded)" '^  callers +14 +32 %  and 3 more \(--top 0 shows all\)$' "--top 1: the rest in one line"
expect_match "$("$CLEAR" doctor --peek=nix calls.folded)" '^no function matches --peek=nix$' "--peek of nothing"
expect_equal "$("$CLEAR" doctor --json --peek=nix calls.folded)" "[]" "--peek of nothing, JSON"
expect_equal "$("$CLEAR" doctor --json --cumulative --top 2 calls.folded | python3 -c 'import json, sys; print([(row["function"], row["flat"], row["cum"]) for row in json.load(sys.stdin)])')" \
    "[('main', 0, 47), ('parse', 12, 47)]" "--top of a JSON that was asked for"

# ---- findings that the filter leaves
cat "$ROOT/schema/tables.sql" "$ROOT/tests/query_data.sql" | sqlite3 t.db || fail "making t.db"
export CLEAR_DB=t.db
codes() { # codes ARGUMENTS...: "section subject" of the findings of run 1
    "${doctor:-$PLAIN_CLEAR}" doctor --json "$@" 1 | python3 -c 'import json, sys
for row in json.load(sys.stdin):
    if row["section"] not in ("function", "peek"): print(row["section"], row["subject"][:12])' || fail "doctor --json $*"
}
all="saturation heap
lock server:g_loc
heap insert_row
lock insert_row+8
heap größe::größe
heap server+0x1b5
lock 0x5"
expect_equal "$(codes)" "$all" "without a filter"
# insert_row is in the stack of a site and of the lock in its block; what was lost is always told.
expect_equal "$(codes --focus='^insert_row$')" "saturation heap
heap insert_row
lock insert_row+8" "--focus of a function"
expect_equal "$(doctor=$CLEAR codes --focus='^(insert_row|server:g_lock)$' --ignore=xmalloc)" "saturation heap
lock server:g_loc" "--ignore wins, over a frame that nobody is pointed to as well"
expect_equal "$(codes --focus='/src/table\.c$')" "saturation heap
heap insert_row
lock insert_row+8" "--focus of a source file"
expect_equal "$(codes --ignore=/bin/server)" "saturation heap
lock server:g_loc
lock 0x5" "--ignore of a binary"
expect_equal "$(codes --focus='(?i)INSERT')" "$(codes --focus=insert)" "an expression's own options"
"$CLEAR" doctor --focus='^insert_row$' 1 >report
expect_match "$(cat report)" '^  filter: --focus=\^insert_row\$; 4 findings hidden$' "what was left out is counted"
expect_match "$(cat report)" '^ +2\.9 MiB +98 % +2\.9 MiB +98 %  insert_row  \(table\.c\)$' "the function in focus: 3,000,000 of 3,050,050 bytes"
expect_match "$("$CLEAR" doctor --focus=nix 1)" '^no finding matches$' "a filter that leaves nothing"
expect_match "$("$PLAIN_CLEAR" doctor --focus=nix 1)" '^no stack matches$' "no function either"
# --by decides the order of the heap's findings of one severity: by live bytes as ever, or by blocks.
sqlite3 t.db "INSERT INTO traces(id, hash, signature, stack, location_id, function_id, line) VALUES (9, 9, 9, '[3]', 3, 3, 7);
              INSERT INTO sites(profile_id, trace_id, alloc_count, alloc_bytes) VALUES (1, 9, 900, 45000)" || fail "one more site"
expect_equal "$(codes --by=inuse_allocs | sed -n '/^heap/p')" "heap insert_row
heap main
heap größe::größe
heap server+0x1b5" "--by inuse_allocs: 900 blocks before 490"
expect_equal "$(codes --by=inuse_bytes | sed -n '/^heap/p')" "heap insert_row
heap größe::größe
heap main
heap server+0x1b5" "--by inuse_bytes: 49,000 bytes before 45,000"
expect_equal "$(codes --top 1)" "saturation heap
lock server:g_loc
heap insert_row" "--top of a JSON"

# ---- what is refused: one line, and the place in the expression
refused() { # refused REGEX ARGUMENTS...
    local regex=$1
    shift
    expect_status 2 "$CLEAR" doctor "$@" >out.txt 2>err.txt
    expect_match "$(cat err.txt)" "$regex" "what is said to: doctor $*"
    expect_equal "$(wc -c <out.txt)" 0 "output of: doctor $*"
}
refused "^clear: --focus 'a\(b': missing closing parenthesis" --focus='a(b' 1
expect_equal "$(head -2 err.txt)" "  a(b
     ^" "the place"
refused "^clear: --peek '\[z-a\]': range out of order" --peek='[z-a]' 1
expect_equal "$(sed -n 2p err.txt)" "     ^" "the place, in the middle: below the a"
refused "^clear: --ignore '\*': quantifier does not follow" --diff 2 --ignore='*' 1
refused "^clear: --by: unknown figure 'size'; figures are bytes, allocs, inuse_bytes, inuse_allocs" --by size 1
refused "^clear: --peek and --diff exclude each other" --peek=x --diff 2 1
refused "^clear: --top" --top=-1 1
# An expression that would take for ever is stopped.
printf '%s 1\n' "$(printf 'a%.0s' {1..60})" >long.folded
timeout 20 "$CLEAR" doctor --focus='^(a+)+$b' long.folded >/dev/null || fail "an expression that needs a b"
endless="clear: --FLAG '\^\(a\+\)\+\[bc\]\\$': cannot be matched with 'a{60}' \(match limit exceeded\)"
for flag in focus ignore peek; do
    refused "^${endless/FLAG/$flag}" --$flag='^(a+)+[bc]$' long.folded
    CLEAR=$PLAIN_CLEAR refused "^${endless/FLAG/$flag}" --json --$flag='^(a+)+[bc]$' long.folded
done
refused "^clear: --ignore '.*': cannot be matched with '[^']*' \(match limit exceeded\)" --diff 2 --ignore='(.+)+[#@]$' 1

# ---- the text
"$CLEAR" doctor --cumulative --by=allocs --top 0 1 >report || fail "all flags"
! grep -q ' $' report || fail "trailing blanks"
expect_equal "$(sed '/^next/,$d' report | python3 -c 'import sys; print("".join(l for l in sys.stdin.buffer.read().decode().splitlines(True) if len(l) > 101), end="")')" "" "lines over 100 columns"
check_db t.db

# ---- --run is what a store has: of a file the message says what to type
"$CLEAR" ingest -q --db one.db "$heap" || fail ingest
expect_status 2 "$CLEAR" doctor --db one.db --run 1 2>err.txt
expect_match "$(cat err.txt)" '^clear: --runs is for a store, and one.db is a file: clear doctor 1 \(see' "doctor --run"
