#!/usr/bin/env bash
# Programs that clear does not start record themselves with the variables of clear env. They count what they do themselves.
# leaks: a collector that goes on running
. "$(dirname "$0")/lib.sh"
mkdir -m 1777 dir
service() { # service COMMAND...: with the variables, as a service manager would start it
    (eval "$("$PLAIN_CLEAR" env --dir "$TMP/dir" --budget=off 2>/dev/null)" && exec "$@")
}
recordings() { find dir -mindepth 1 -maxdepth 1 -type d; }
segments() { find dir -name '*.seg' | wc -l; }

# The variables.
"$CLEAR" env --dir /run/clear --runtime /usr/lib/libclear_rt.so --cpu=off --no-heap --depth 8 --memory 2MiB --db /var/lib/a.db >env.txt 2>err.txt
expect_equal "$(sed -n 1,2p env.txt | paste -sd' ')" \
    "export LD_PRELOAD=/usr/lib/libclear_rt.so\${LD_PRELOAD:+:\$LD_PRELOAD} export CLEAR_DIR=/run/clear" 'for a shell'
expect_match "$(cat env.txt)" '^export CLEAR_RECORD=features=[0-9]+,depth=8,ids_max=[0-9]+,segment_max=2097152,sample_n=0,sample_bytes=0,cpu_hz=0,has_budget=0,budget_ppm=0$' 'what is recorded'
expect_equal "$(cat err.txt)" 'clear: next: clear collect --dir /run/clear --db /var/lib/a.db' 'what follows'
expect_match "$("$CLEAR" env --dir /run/clear --db a.db --to postgresql://me:secret@host/db 2>&1 >/dev/null)" \
    'clear collect --dir /run/clear --db a.db --to postgresql://me@host/db$' 'what follows with a store'
expect_equal "$("$CLEAR" env --format systemd --dir '/run/a%b"c' 2>/dev/null | sed -n '1p;3p')" '[Service]
Environment="CLEAR_DIR=/run/a%%b\"c"' 'for systemd'
# shellcheck disable=SC2016
expect_equal "$("$CLEAR" env --format docker --dir '/run/$x' 2>/dev/null | sed -n 2p)" 'ENV CLEAR_DIR="/run/\$x"' 'for a Dockerfile'
"$CLEAR" env --format kubernetes --dir /run/clear 2>/dev/null >env.yaml
expect_equal "$(sed -n '1p;4,5p' env.yaml)" 'env:
  - name: CLEAR_DIR
    value: "/run/clear"' 'for a pod'
expect_status 2 "$CLEAR" env --cpu=perf 2>/dev/null
expect_status 2 "$CLEAR" env --format ini 2>/dev/null
expect_status 2 "$CLEAR" env --dir run 2>/dev/null

# A program, its child and what it executes make their segments in one private directory.
service "$FIXTURES/execs" 3 >/dev/null 2>&1 || true
expect_equal "$(recordings | wc -l)" 1 'directories of one program'
expect_equal "$(stat -c %a "$(recordings)" "$(recordings)"/* | sort -u | paste -sd' ')" '600 700' 'who may read them'
[ "$(segments)" -ge 2 ] || fail "$(segments) segments of a program that executes others"

# What hinders the recording leaves the program alone.
rm -rf dir/*
unharmed() { # unharmed WHAT: the program says and returns the same, and nothing is left
    local said
    said=$(service sh -c 'echo said; exit 7')
    expect_equal "$? $said" '7 said' "$1"
    expect_equal "$(find dir/ -mindepth 1 2>/dev/null | wc -l)" 0 "$1: what is left"
}
chmod 777 dir && unharmed 'a directory in which others may replace it'
"$CLEAR" collect --once --dir "$TMP/dir" --db t.db 2>err.txt || fail "a directory in which others may replace it: $(cat err.txt)"
expect_match "$(cat err.txt)" "$TMP/dir: no program records itself there, .*: chmod .t" 'what the collector says of it'
rmdir dir && unharmed 'no directory'
expect_status 1 "$CLEAR" collect --once --dir "$TMP/dir" --db t.db 2>err.txt
expect_match "$(cat err.txt)" "$TMP/dir: No such file or directory; without it no program records itself: mkdir" 'what the collector says of none'
touch dir && unharmed 'a file in its place'
rm dir && mkdir -m 1777 dir
(ulimit -f 0 && unharmed 'no file may be written')
expect_equal "$(CLEAR_DIR=$TMP/dir CLEAR_RECORD=features=1,depth=8,new=1 LD_PRELOAD=${PLAIN_CLEAR%/*}/libclear_rt.so echo said)" said 'settings of a newer clear'
expect_equal "$(find dir -mindepth 1 | wc -l)" 0 'settings of a newer clear: what is left'

# ---- clear collect ----

db() { sql t.db "$1"; }
collect() { "$CLEAR" collect --dir "$TMP/dir" --db t.db "$@"; }
once() { collect --once "$@" >out.txt 2>err.txt || fail "clear collect --once: $(cat err.txt)"; }
nothing_left() { # nothing_left WHAT: neither of recordings nor beside the warehouse
    expect_equal "$(find dir t.db.collect -mindepth 1 2>/dev/null | wc -l)" 0 "$1: what is left: $(find dir t.db.collect 2>/dev/null)"
}
counts() { # counts NAME [ARGUMENT]: starts counts_itself, whose rounds are told in NAME; its pid is in $program
    rm -f "$1" # or what another program said there is taken for this one's
    (eval "$("$PLAIN_CLEAR" env --dir "$TMP/dir" --no-io --budget=off 2>/dev/null)" && exec "$FIXTURES/counts_itself" "${2:-0}") >"$1" 2>&1 &
    program=$!
    rounds=0
    wait_for_text ready "$1"
}
round() { # round NAME [SIGNAL]: one round of the program; SIGUSR2: of a child
    rounds=$((rounds + 1))
    kill "-${2:-USR1}" "$program"
    wait_for_text "round $rounds\$" "$1"
}
ends() { kill "-${1:-TERM}" "$program" && { wait "$program" || true; } 2>/dev/null; }
# The program's own allocations and frees in a run, and its acquisitions: the mutex has no other user.
figures() { db "SELECT sum(alloc_count), sum(free_count) FROM heap WHERE run_id IN ($1) AND function = 'counted_allocation'"; }
locks() { db "SELECT sum(acquires) FROM lock_use WHERE run_id IN ($1) AND kind = 'mutex'"; }

# Two programs at once, one with a child, collected after their end. A second look finds nothing.
counts one
first=$program
round one && round one
round one USR2
counts two 2
round two
ends
program=$first && ends
once
expect_equal "$(db "SELECT count(*), min(flags) || max(flags) FROM runs")" '2|' 'two runs, both over'
expect_equal "$(figures "SELECT run_id FROM tags WHERE key = 'program' AND value = 'counts_itself' AND run_id IN (SELECT id FROM runs WHERE command LIKE '%itself 0')")" \
    '3001|3001' 'two rounds, and one of a child'
two=$(db "SELECT id FROM runs WHERE command LIKE '%itself 2'")
expect_equal "$(figures "$two") $(locks "$two")" '3001|3001 3000' 'a round of three threads'
expect_equal "$(db "SELECT group_concat(key) FROM (SELECT DISTINCT key FROM tags ORDER BY 1)")" 'host,program,service,user' 'tags'
expect_equal "$(db "SELECT count(*) FROM processes")" 3 'processes'
nothing_left 'ended programs'
once
expect_equal "$(db 'SELECT count(*) FROM runs')" 2 'a second look'

# A program that goes on is left; one that is killed has all that it did.
counts one
round one
once
expect_match "$(cat err.txt)" '0 runs stored, 1 go on' 'a program that goes on'
round one
ends KILL
once
expect_equal "$(figures 3)" '2001|2001' 'of a program that was killed'
nothing_left 'a killed program'

# What it executes belongs to it; the run has the name of the last program in its place.
service sh -c "'$FIXTURES/execs' 2; exec '$FIXTURES/execs' 1" >execs.txt || true
once
expect_equal "$(db "SELECT count(DISTINCT pid), count(*) FROM processes WHERE run_id = 4")" '2|6' 'images of a shell and what it executes'
expect_match "$(db "SELECT command FROM runs WHERE id = 4")" 'execs 0$' 'the name of such a run'
expect_equal "$(db "SELECT sum(alloc_count) FROM heap WHERE run_id = 4 AND function = 'before_exec'")" \
    "$(awk '$1 == "image" {sum += $5} END {print sum}' execs.txt)" 'what the images allocated'

# Of another version: left, and named.
counts one
ends
damage() { printf '\377\377' | dd of="$(recordings)/$1" bs=1 seek=4 conv=notrunc 2>/dev/null; }
damage control
once
expect_match "$(cat err.txt)" "$TMP/dir/[0-9a-f-]* is of another version of clear, and is left there" 'another version'
[ -d "$(recordings)" ] || fail 'a recording of another version was removed'
expect_equal "$(db 'SELECT count(*) FROM runs')" 4 'runs after another version'
rm -rf dir/*

# Links are not followed: neither to a directory, nor from a recording to other files.
counts one
round one
ends
mv "$(recordings)" moved
ln -s "$TMP/moved" dir/0000004711-00000000000000000001-0123456789abcdef
once
expect_equal "$(db 'SELECT count(*) FROM runs')" 4 'a link in place of a recording'
[ -e moved/control ] || fail 'a link was followed, and what it leads to removed'
rm dir/*
mv moved dir/0000004711-00000000000000000001-0123456789abcdef
segment=$(find dir -name '*.seg')
mv "$segment" kept.seg && ln -s "$TMP/kept.seg" "$segment"
echo secret >secret && ln secret "${segment%/*}/2-2.seg" && mkfifo "${segment%/*}/3-3.seg"
touch -d '2 minutes ago' "${segment%/*}"
once
expect_equal "$(db 'SELECT count(*) FROM runs')" 4 'segments that are links'
expect_equal "$(cat secret)" secret 'what a hard link leads to'
rm -rf dir/* kept.seg

# Of other users: root collects all of them, and nobody else another's.
if [ "$(id -u)" = 0 ]; then
    counts one
    round one
    ends
    chown -R 65534 dir/*
    mkdir -m 777 nobody
    chmod 755 "$TMP" 2>/dev/null
    (cd nobody && timeout 60 setpriv --reuid 65533 --regid 65533 --clear-groups "$CLEAR" collect --once --dir "$TMP/dir" --db n.db) 2>err.txt || true
    expect_equal "$(recordings | wc -l)" 1 'of another user: it stays'
    once
    expect_equal "$(figures 5) $(db "SELECT value FROM tags WHERE run_id = 5 AND key = 'user'")" "1001|1001 nobody" 'of another user, by root'
    nothing_left 'of another user'
fi

# ---- programs that go on ----

# Cuts: each run has what came after the one before; together they have all, and none has anything twice. On a machine that stands still a look
# may cut twice, so a part is what one call of `cut` added.
last() { db 'SELECT coalesce(max(id), 0) FROM runs'; }
cut() { # sets `part`: the runs of a cut, which is due a second after the one before
    local tries before=0
    [ ! -e t.db ] || before=$(last)
    part="SELECT id FROM runs WHERE id > $before"
    for ((tries = 0; tries < 100; tries++)); do
        once --every 1s
        [ ! -e t.db ] || [ "$(last)" = "$before" ] || { part="$part AND id <= $(last)"; return; }
        sleep 0.1
    done
    fail "no run after $before: $(cat err.txt)"
}
processes() { db "SELECT count(DISTINCT pid) FROM processes WHERE run_id IN ($part)"; }
rm t.db*
counts one 2
round one
cut
expect_equal "$(figures "$part") $(locks "$part") $(processes)" '3001|3001 3000 1' 'the first part'
round one && round one USR2
cut
expect_equal "$(figures "$part") $(locks "$part") $(processes)" '4000|4000 4000 2' 'the second part: a round of three threads, and one of a child'
mkdir other && "$CLEAR" collect --once --dir "$TMP/other" --db t.db 2>err.txt || fail "another directory of the same warehouse: $(cat err.txt)"
cut
expect_equal "$(db "SELECT coalesce(sum(alloc_count), 0) FROM heap WHERE run_id IN ($part) AND function = 'counted_allocation'") $(processes)" '0 1' \
    'a part in which nothing was done'
part="SELECT id FROM runs WHERE id > $(last)"
round one
ends
once
expect_equal "$(figures "$part") $(locks "$part") $(processes)" '3000|3000 3000 1' 'the last part'
expect_equal "$(figures 'SELECT id FROM runs') $(locks 'SELECT id FROM runs')" '10001|10001 10000' 'all parts'
expect_equal "$(db "SELECT group_concat(value) FROM (SELECT value FROM tags WHERE key = 'part' ORDER BY run_id)")" "$(seq -s, "$(last)")" 'numbers of parts'
expect_equal "$(db "SELECT count(DISTINCT value) FROM tags WHERE key = 'service'")" 1 'the recording of the parts'
expect_equal "$(db "SELECT count(*) FROM runs AS a JOIN runs AS b ON b.id = a.id + 1
    WHERE abs(b.started_ns - a.started_ns - a.duration_ns) > 1000000")" 0 'parts that do not begin where the one before ended'
nothing_left 'parts'

# A collector that goes on, is killed at any moment, and begins again: no run twice, nothing lost.
daemon() {
    "$CLEAR" collect --dir "$TMP/dir" --db t.db --every 1s --quiet >>daemon.txt 2>&1 &
    collector=$!
}
killed() { kill -9 "$collector" && { wait "$collector" || true; } 2>/dev/null; }
rm t.db*
counts one
first=$program
counts two 1
second=$program
for delay in 0.1 0.3 0.9 1.0 1.1 1.2 1.3 1.5; do
    daemon
    for program in $first $second; do kill -USR1 "$program"; done
    sleep "$delay"
    killed
    rounds=$((rounds + 1))
    for told in one two; do wait_for_text "round $rounds\$" "$told"; done
done
kill "$first" "$second"
daemon
all_stored() { [ -z "$(recordings)" ] && [ -z "$(find t.db.collect -mindepth 1 -maxdepth 1 2>/dev/null)" ]; }
wait_for 'both programs to be stored' all_stored
kill "$collector"
wait "$collector" || fail 'a collector that is asked to end'
expect_equal "$(db "SELECT group_concat(n) FROM (SELECT sum(alloc_count) AS n FROM heap JOIN runs ON runs.id = run_id
    WHERE function = 'counted_allocation' GROUP BY command ORDER BY command)")" 8001,16001 'all parts of two programs, over eight kills'
expect_equal "$(db "SELECT count(*) - count(DISTINCT service || coalesce(part, '')) FROM (SELECT
    (SELECT value FROM tags WHERE run_id = runs.id AND key = 'service') AS service,
    (SELECT value FROM tags WHERE run_id = runs.id AND key = 'part') AS part FROM runs)")" 0 'parts that are there twice'
nothing_left 'a killed collector'

# One collector a warehouse: another one is refused, and leaves the directory of the first alone, which has nothing in it now.
rm t.db*
service true
"$CLEAR" collect --dir "$TMP/dir" --db t.db --every off --quiet >>daemon.txt 2>&1 &
collector=$!
wait_for 'the program to be stored' all_stored
expect_status 1 collect --once >out.txt 2>err.txt
expect_match "$(cat err.txt)" 't.db: another clear collect stores services there now' 'a second collector'
service true
wait_for 'the next program to be stored' all_stored
expect_equal "$(db 'SELECT count(*) FROM runs')" 2 'programs before and after a second collector'
kill "$collector"
wait "$collector" || fail 'a collector beside which another one was started'
nothing_left 'two collectors'

# More than --memory: what ended in a program that goes on is stored early, and its memory is free; then the oldest is paused, until there
# is room again.
rm -f t.db* daemon.txt
counts one
first=$program
round one
for _ in 1 2 3; do round one USR2; done
expect_equal "$(segments)" 4 'segments of a program and its children'
most=$(find dir -name '*.seg' -printf '%k\n' | awk '{sum += $1} END {print sum - 4}')
"$CLEAR" collect --dir "$TMP/dir" --db t.db --every off --memory "${most}KiB" --quiet >daemon.txt 2>&1 &
collector=$!
alone() { [ "$(segments)" = 1 ]; }
wait_for 'the segments of children to be stored early' alone
expect_equal "$(figures 1)" '4001|4001' 'a part that was stored early'
others=
for other in a b c d e f g h; do
    counts "$other"
    others="$others $program"
done
wait_for_text 'is paused: all recordings take more than --memory' daemon.txt
# shellcheck disable=SC2086
kill $others
wait_for_text 'goes on' daemon.txt
program=$first rounds=4
round one
ends
wait_for 'all to be stored' all_stored
kill "$collector"
wait "$collector"
paused=$(db "SELECT count(*) FROM counters JOIN profiles ON profiles.id = profile_id WHERE name = 'recorder.paused_ms'")
[ "$paused" -ge 1 ] || fail 'no run says that it was paused'
nothing_left 'recordings with a limit'

# What has ended and cannot be stored is dropped, the oldest first, as far as that is needed; without the limit it stays.
rm -f t.db*
for told in one two; do
    counts $told
    round $told
    [ $told = one ] || round $told
    ends
done
echo 'no warehouse' >t.db
expect_status 1 collect --once >out.txt 2>err.txt
expect_equal "$(recordings | wc -l) $(grep -c dropped err.txt)" '2 0' 'what could not be stored, below the limit'
oldest=$(recordings | sort -t- -k2 | head -1)
most=$(find dir -name '*.seg' -printf '%k\n' | awk '{sum += $1} END {print sum - 4}')
expect_status 1 collect --once --memory "${most}KiB" >out.txt 2>err.txt
expect_equal "$(grep -c dropped err.txt)" 1 'how many are dropped'
expect_match "$(cat err.txt)" "$TMP/dir/$(basename "$oldest" .taken) was dropped: it could not be stored, and all take more than" 'which one is dropped'
expect_equal "$(recordings | wc -l)" 1 'what is left of two'
rm t.db
once
expect_equal "$(figures 1) $(db 'SELECT count(*) FROM runs')" '2001|2001 1' 'what was not dropped'
nothing_left 'a dropped recording'

# The machine was restarted, and the directory is empty: what was copied and not stored yet is stored.
rm t.db
counts one
round one
ends
echo 'no warehouse' >t.db
expect_status 1 collect --once >out.txt 2>err.txt
rm -rf dir/*
expect_status 1 collect --once >out.txt 2>err.txt
rm t.db
once
expect_equal "$(figures 1)" '1001|1001' 'a copy without its recording'
nothing_left 'a copy without its recording'

# ---- what is full ----

unshare --user --map-root-user --mount true 2>/dev/null || unshare --mount true 2>/dev/null || exit 0 # no mount name space of our own
inside() { # inside SIZE SCRIPT: with ./small as a file system of its own
    local kind=(--mount)
    [ "$(id -u)" = 0 ] || kind=(--user --map-root-user --mount)
    mkdir -p small
    unshare "${kind[@]}" bash -euc "mount -t tmpfs -o mode=1777,size=$1 none small; . <(\"$PLAIN_CLEAR\" env --dir $TMP/small --budget=off 2>/dev/null | sed 's/^export LD_PRELOAD=/preload=/'); $2"
}
export FIXTURES
rm -f t.db*

# The directory has no room for a segment: nothing is recorded, and nothing left. It becomes full: what has no room is counted as dropped.
inside 40k 'expect=$(LD_PRELOAD=$preload sh -c "echo said; exit 0"); [ "$expect" = said ]; [ -z "$(ls small)" ]
    "$CLEAR" collect --once --dir $TMP/small --db t.db 2>room.txt' || fail 'a directory without room'
expect_equal "$(grep -c "$TMP/small is full: a program that starts now is not recorded" room.txt)" 1 'what the collector says of it'
inside 512k 'LD_PRELOAD=$preload "$FIXTURES/many_stacks" 5000 >many.txt; "$CLEAR" collect --once --quiet --dir $TMP/small --db t.db; [ -z "$(ls small)" ]' ||
    fail 'a directory that becomes full'
[ "$(db "SELECT sum(value) > 0 FROM counters WHERE name = 'recorder.dropped'")" = 1 ] || fail 'nothing is said to be dropped'

# The disk of the collector is full: the recording stays, and is stored when there is room.
rm -f t.db*
counts one
round one
ends
inside 16k 'expect=0; "$CLEAR" collect --once --dir $TMP/dir --db small/t.db 2>full.txt || expect=$?; [ "$expect" = 1 ]' || fail "a full disk of the collector: $(cat full.txt)"
expect_equal "$(recordings | wc -l)" 1 'a recording that could not be stored'
once
expect_equal "$(figures 1)" '1001|1001' 'what is stored when there is room'
nothing_left 'a full disk'
