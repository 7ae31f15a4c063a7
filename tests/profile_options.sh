#!/usr/bin/env bash
# The ways to name a target, its options and ours; what the run's rows say about them.
. "$(dirname "$0")/lib.sh"

cat >args <<'E2'
#!/bin/sh
printf '[%s]' "$0" "$@"
E2
chmod +x args
expect_equal "$("$CLEAR" profile -q --db t.db ./args --port 0)" '[./args][--port][0]' "options of the target"
expect_equal "$("$CLEAR" profile -q --db t.db ./args -- --port 0)" '[./args][--port][0]' "after --"
expect_equal "$("$CLEAR" profile -q --db t.db -- ./args --db x)" '[./args][--db][x]' "-- before the target"
expect_equal "$("$CLEAR" profile -q --db t.db ./args -- -- a)" '[./args][--][a]' "the target's own --"
expect_equal "$("$CLEAR" profile -q --db t.db ./args a -- b)" '[./args][a][--][b]' "-- further on is the target's"
expect_equal "$("$CLEAR" profile -q --db t.db ./args '' 'a b' "it's")" "[./args][][a b][it's]" "odd arguments"
expect_equal "$(sql t.db 'SELECT command FROM runs ORDER BY id DESC LIMIT 1')" "./args '' 'a b' 'it'\\''s'" "as stored"
expect_equal "$(echo in | "$CLEAR" profile -q --db t.db sh -c 'cat; echo error >&2' 2>err)" in "standard input and output"
expect_equal "$(cat err)" error "standard error is the program's alone with -q"

"$CLEAR" profile -q --db t.db --label nightly --tag commit=abc --tag branch=a=b --tag commit=def -o here ls >/dev/null
expect_equal "$(sql t.db "SELECT label FROM runs ORDER BY id DESC LIMIT 1")" nightly label
expect_equal "$(sql t.db 'SELECT key, value FROM tags ORDER BY key')" "$(printf 'branch|a=b\ncommit|def')" tags
[ -s here/heap.pb.gz ] || fail "-o here wrote no here/heap.pb.gz"
[ ! -e ls.profile ] || fail "-o here wrote ls.profile as well"

# The warehouse alone, and a run that a script finds by the UUID that it chose.
uuid=8c0f3d52-1111-4222-8333-0123456789ab
(mkdir bare && cd bare && "$CLEAR" profile -q --db bare.db --no-files --uuid "${uuid^^}" ls >/dev/null && ls) >bare.txt || fail "--no-files --uuid"
expect_equal "$(cat bare.txt)" bare.db 'files that --no-files leaves'
expect_equal "$(sql bare/bare.db 'SELECT uuid FROM runs')" $uuid '--uuid'
expect_equal "$("$CLEAR" runs --db bare/bare.db $uuid --json | grep -c '"run_id":1')" 1 'the run by its UUID'
expect_status 2 "$CLEAR" profile -q --db bare/bare.db --no-files --uuid $uuid ls >/dev/null 2>err.txt
expect_match "$(cat err.txt)" "bare.db: run 1 has the UUID $uuid already" 'the same UUID twice'
expect_equal "$(sql bare/bare.db 'SELECT count(*) FROM runs')" 1 'runs'

(export CLEAR_DB=$TMP/named.db && "$CLEAR" profile -q ls >/dev/null) || fail "CLEAR_DB"
[ -s named.db ] && [ -s ls.profile/heap.pb.gz ] || fail "CLEAR_DB=named.db or ls.profile not written"
expect_match "$("$CLEAR" profile --db t.db ls 2>&1 >/dev/null)" 'clear: next: clear doctor --db t.db [0-9]+; go tool pprof' words

# Depth: stacks are cut, and it is counted. Marked, not lost: the sums are those of the whole.
"$CLEAR" profile -q --db depth.db --depth 1 sqlite3 :memory: 'SELECT 1' >/dev/null
expect_equal "$(sql depth.db 'SELECT max(json_array_length(stack)) FROM traces')" 1 "frames with --depth 1"
[ "$(sql depth.db "SELECT sum(truncated) FROM profiles WHERE kind = 'heap'")" -gt 0 ] || fail "nothing counted as truncated"

while IFS='|' read -r why arguments; do
    # shellcheck disable=SC2086 # words are meant
    expect_status 2 "$CLEAR" profile --db never.db $arguments >/dev/null 2>err.txt
    message=$(cat err.txt)
    expect_equal "$(wc -l <<<"$message")" 1 "lines of: $message"
    expect_match "$message" "$why" "message of: $arguments"
done <<'E2'
no target|
unknown option --nonsense|--nonsense ls
KEY=VALUE|--tag novalue ls
KEY=VALUE|--tag =x ls
hexadecimal|--uuid 8c0f3d52 ls
exclude each other|--no-files -o here ls
--depth|--depth 0 ls
--depth|--depth 1025 ls
--interval|--interval 0 ls
--interval|--interval x ls
--profile-max|--profile-max -1 ls
not found in PATH|no-such-program-anywhere
directory|/
E2
[ ! -e never.db ] || fail "a refused command made a database"

# A path that LD_PRELOAD cannot carry.
mkdir 'a b:c' && cp "$(dirname "$CLEAR")/libclear_rt.so" 'a b:c/'
CLEAR_RT_LIBRARY="a b:c/libclear_rt.so" "$CLEAR" profile -q --db odd.db ls >/dev/null
[ "$(sql odd.db 'SELECT sum(alloc_count) FROM sites')" -gt 0 ] || fail "nothing recorded by a runtime in an odd directory"
CLEAR_RT_LIBRARY=/nowhere/x.so expect_status 2 "$CLEAR" profile --db odd.db ls 2>/dev/null
