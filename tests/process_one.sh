# clear as process 1 of a container, as where it is the entry point of an image: all orphans become its children, and none may stay a zombie. The
# status of the program, and a SIGTERM to it, are as everywhere.
# build: plain
. "$(dirname "$0")/lib.sh"

kind=(--pid --fork --kill-child --mount-proc)
[ "$(id -u)" = 0 ] || kind=(--user --map-root-user "${kind[@]}")
unshare "${kind[@]}" true 2>/dev/null || skip 'this machine allows no process name space of our own'

# Twenty orphans of process 1, which are ended; the program looks at them until none is left, or for 20 s.
cat >orphans.sh <<'END'
[ $PPID = 1 ] || exit 9
for ((i = 0; i < 20; i++)); do (sleep 600 & echo $! >>pids); done
mapfile -t pids <pids
for pid in "${pids[@]}"; do [ "$(cut -d ' ' -f 4 /proc/$pid/stat)" != 1 ] || adopted=$((adopted + 1)); done
kill -KILL "${pids[@]}"
for ((i = 0, left = 20; i < 200 && left > 0; i++)); do
    left=0
    for pid in "${pids[@]}"; do [ ! -e /proc/$pid ] || left=$((left + 1)); done
    sleep 0.1
done
echo "adopted $adopted left $left"
exit 7
END
unshare "${kind[@]}" "$CLEAR" profile --db t.db -o t.profile -- bash orphans.sh >out.txt 2>err.txt && status=0 || status=$?
expect_equal "$status" 7 "status: $(cat out.txt err.txt)"
expect_equal "$(cat out.txt)" 'adopted 20 left 0' 'orphans'
check_db t.db
expect_equal "$(sql t.db 'SELECT exit_status FROM runs')" 7 'status of the run'

# Docker stops a container by a SIGTERM from outside to its process 1.
cat >stopped.sh <<'END'
trap 'echo stopped; exit 5' TERM
for ((i = 0; i < 20; i++)); do (true &); done
touch ready
for ((i = 0; i < 600; i++)); do sleep 0.1; done
END
unshare "${kind[@]}" "$CLEAR" profile --db t.db -o t.profile -- bash stopped.sh >out.txt 2>err.txt &
outside=$!
for ((i = 0; i < 600; i++)); do [ ! -e ready ] || break; sleep 0.1; done
first=$(pgrep -P $outside) || fail "unshare has no child: $(cat err.txt)"
kill -TERM "$first"
wait $outside && status=0 || status=$?
expect_equal "$(cat out.txt)" stopped "the program, which gets the signal: $(cat err.txt)"
expect_equal "$status" 5 'status after SIGTERM'
expect_equal "$(sql t.db 'SELECT exit_status FROM runs WHERE id = 2')" 5 'status of the second run'
