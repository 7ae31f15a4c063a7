# How many threads a process has, how long they live and who starts them, by a program that counts and times its own.
# build: plain
. "$(dirname "$0")/lib.sh"

of_run='run_id = (SELECT max(id) FROM runs)'
check_threads() { # of the newest run, by out.txt
    while read -r _ name started ended short; do
        expect_equal "$(sql t.db "SELECT sum(started), sum(ended) FROM thread_use WHERE $of_run AND function = '$name'")" "$started|$ended" "threads of $name"
        least=0
        [ "$name" = short_lived ] && least=$short
        expect_between "$(sql t.db "SELECT sum(short_count) FROM thread_use WHERE $of_run AND function = '$name'")" "$least" "$started" "short threads of $name"
    done < <(grep '^threads ' out.txt)
    # 0.1 % for the rate of the time stamp counter, which is measured, not known.
    while read -r _ name least most; do
        expect_between "$(sql t.db "SELECT sum(life_ns) FROM thread_use WHERE $of_run AND function = '$name'")" $((least - least / 1000)) $((most + most / 1000)) "life of $name"
    done < <(grep '^life ' out.txt)
    expect_equal "$(grep -c '^threads ' out.txt) $(grep -c '^life ' out.txt)" '4 4' 'what the program counted'
    read -r _ started at_once least most < <(grep '^process ' out.txt)
    expect_equal "$(sql t.db "SELECT threads_started, threads_most FROM processes WHERE $of_run AND executable GLOB '*/thread_lives'")" "$started|$at_once" 'threads of the process'
    expect_between "$(sql t.db "SELECT thread_ns FROM processes WHERE $of_run AND executable GLOB '*/thread_lives'")" $((least - least / 1000)) $((most + most / 1000)) 'its thread time'
}

# With each kind of recording that is there, and many flushes that meet living threads.
for options in --interval=0.02 '--cpu=off --no-heap' '--no-locks --sample=100'; do
    # shellcheck disable=SC2086 # options are words
    expect_status 0 profile -q $options -- "$FIXTURES/thread_lives" >out.txt
    check_threads
    expect_equal "$(sql t.db "SELECT count(*) FROM thread_use WHERE $of_run AND line = 0")" 0 "stacks without a line with $options"
done
expect_equal "$(sql t.db "SELECT sum(max_life_ns > life_ns OR short_ns > life_ns OR short_count > ended) FROM thread_use")" 0 'parts above the whole'
# Killed, and as a child: then the recorder has its end from a flush, or from itself.
expect_status 137 profile -q -- "$FIXTURES/thread_lives" kill >out.txt
check_threads
expect_status 0 profile -q --interval=5 -- sh -c "\"$FIXTURES/thread_lives\"; sleep 0.5" >out.txt
check_threads
expect_equal "$(sql t.db "SELECT threads_most FROM processes WHERE $of_run AND executable NOT GLOB '*/thread_lives' LIMIT 1")" 1 'threads of a shell'

# The kind has reports and exports.
total() { "$CLEAR" top --db t.db --kind threads --sample_index="$1" --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["total"])'; }
expect_equal "$(total started) $(total lifetime)" "$(sql t.db "SELECT sum(started) || ' ' || sum(life_ns) FROM thread_use WHERE $of_run")" 'the kind threads'

# Fibers and a fork: each process has its own.
expect_status 0 profile -q -- "$FIXTURES/forks" >out.txt
expect_equal "$(sql t.db "SELECT count(*) FROM processes WHERE $of_run AND (threads_started < 1 OR threads_most NOT BETWEEN 1 AND threads_started OR thread_ns <= 0)")" 0 \
    'processes without threads'
check_db t.db

# Where the kernel gives huge pages to whoever does not object, what the runtime maps and hardly uses has none.
if [ -e /sys/kernel/mm/transparent_hugepage ]; then
    "$CLEAR" profile -q --db pages.db --no-files -- "$FIXTURES/own_smaps" >smaps.txt || fail "own_smaps: $?"
    large() { awk '/^[0-9a-f]+-/ {name = $6; access = $2} /^Size:/ {size = $2} /^VmFlags:/ && name == "" && access ~ /^rw/ && size >= 2048' smaps.txt; }
    expect_between "$(large | wc -l)" 2 100 'large mappings of the runtime'
    expect_equal "$(large | grep -vc ' nh')" 0 'those of them that may get huge pages'
fi
