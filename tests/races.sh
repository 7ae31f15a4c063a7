# ThreadSanitizer over the runtime's own tables with eight threads; and every event of them is in the segment. In make long helgrind, too.
# timeout: 900
# longer: RACES=whole
# plain: the runtime, which has no sanitizers
. "$(dirname "$0")/lib.sh"

# Its hooks get other names once they are compiled, so that the detector's own interceptors keep theirs. The look-ups by name find the
# detector's functions, as they would any other's below a preload.
link_driver() { # link_driver DIRECTORY FLAGS...: of the objects in it
    local directory=$1 file
    shift
    nm --defined-only "$directory"/*.o | awk '$2 == "T" && $3 !~ /^clear_rt_/ {print $3}' | sort -u >"$directory/all"
    nm -D --defined-only "$(dirname "$CLEAR")/libclear_rt.so" 2>/dev/null | awk '$2 == "T" {print $3}' | sort -u >"$directory/exported"
    comm -12 "$directory/all" "$directory/exported" | awk '{print $1, "hooked_" $1}' >"$directory/renames"
    [ "$(wc -l <"$directory/renames")" -gt 30 ] || fail "only $(wc -l <"$directory/renames") hooks were found"
    for file in "$directory"/*.o; do # where it is defined only: what the runtime itself calls is the C library's
        nm --defined-only "$file" | awk 'NR == FNR {new[$1] = $2; next} $3 in new {print $3, new[$3]}' "$directory/renames" - >names
        [ ! -s names ] || objcopy --redefine-syms=names "$file" || fail "objcopy $file"
    done
    gcc -std=gnu11 -I"$ROOT" -O1 -g -fno-builtin -fno-omit-frame-pointer "$@" -o "$directory/driver" "$ROOT/tests/shim_races.c" "$directory"/*.o -pthread -ldl ||
        fail 'the driver'
}

compile() { # compile DIRECTORY FLAGS...: as in the Makefile, but for a program instead of a library
    local directory=$1 file name
    shift
    mkdir -p "$directory"
    for file in "$ROOT"/ingest/shim/*.c "$ROOT"/ingest/shim/*/*.c; do
        # The runtime outlives other destructors of thread data by as many rounds as there are; ThreadSanitizer's own ends
        # in the last but one, and whatever is instrumented crashes after it. So here the runtime goes in the first.
        name=${file##*/}
        sed 's/PTHREAD_DESTRUCTOR_ITERATIONS/1/' "$file" >"$directory/$name"
        gcc -std=c11 -D_GNU_SOURCE -I"$ROOT" -O1 -g -fPIE -fvisibility=hidden -fno-builtin -fno-omit-frame-pointer -fno-stack-protector "$@" \
            -c -o "$directory/${name%.c}.o" "$directory/$name" || fail "$file"
    done
    link_driver "$directory" "$@"
}

run() { # run DIRECTORY COMMAND...: and what it recorded is what it did
    local directory=$1 status=0
    shift
    rm -rf "$directory/segments"
    mkdir -m 700 "$directory/segments"
    "$@" "$directory/driver" "$PWD/$directory/segments" >"$directory/out" 2>"$directory/err" || status=$?
    [ "$status" = 0 ] || fail "status $status of $*: $(grep -v '^$' "$directory/err" | head -n 60)"
    "$directory/driver" "" "$(echo "$PWD/$directory"/segments/*.seg)" >"$directory/got" || fail 'no segment'
    expect_equal "$(cat "$directory/got")" "$(cat "$directory/out")" "what is in the segment of $*"
}

# Without a detector in it, the objects that libclear_rt.so is made of.
mkdir plain && find "$BUILD/ingest/shim" -name '*.o' -exec cp -t plain {} + || fail 'no objects of the runtime'
expect_equal "$(find plain -name '*.o' | wc -l)" "$(find "$ROOT/ingest/shim" -name '*.c' | wc -l)" 'objects of the runtime'
link_driver plain
for _ in 1 2 3; do run plain env; done

compile tsan -fsanitize=thread
# The machine's address space may be too random for it; setarch -R helps where it may.
setarch=env
TSAN_OPTIONS='exitcode=66' ./tsan/driver >/dev/null 2>tsan.err
if grep -q 'unexpected memory mapping' tsan.err; then setarch='setarch -R'; fi
# shellcheck disable=SC2086
run tsan $setarch env TSAN_OPTIONS='exitcode=66 halt_on_error=0 history_size=4'

[ "${RACES:-}" = whole ] || exit 0
# helgrind knows no atomics: what they order it calls a race. What it says of locks, their order and their use counts.
run plain valgrind --tool=helgrind --trace-children=yes -q --error-exitcode=0 --history-level=none
grep -E 'lock order|unlocked|Exiting thread still holds|Bug in libpthread|pthread_[a-z_]+ failed' plain/err && fail 'helgrind'
exit 0
