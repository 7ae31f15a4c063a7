# Every reader's fuzzer entry point reads its corpus and every input that ever broke it (fixtures/crashers), without libFuzzer: no
# crash, no report of a sanitizer, no hang, and no reader without files. Of the 76 damaged warehouses that a fuzzer kept for the code that they
# reach the gate (tests/run --suite) reads a twelfth, and merges another twelfth; make replay and make asan read all.
# timeout: 300
# leaks: readers of foreign bytes
. "$(dirname "$0")/lib.sh"
replay=$BUILD/replay/replay

some() { # some READER: of the files on standard input those that this run reads
    local first
    case ${SANITIZED_CLEAR:+$1} in warehouse) first=1 ;; merge) first=4 ;; *) cat && return ;; esac
    awk -v first="$first" '!/_(found|random)_[^/]*$/ || kept++ % 12 == first'
}

count=0
for source in "$ROOT"/fuzz/fuzz_*.c; do
    reader=$(basename "$source" .c)
    reader=${reader#fuzz_}
    "$ROOT/fuzz/seeds" "$reader" "$TMP/$reader" || fail "seeds of $reader"
    mapfile -t files < <(find "$TMP/$reader" -type f | LC_ALL=C sort | some "$reader")
    "$replay" "$reader" "${files[@]}" >"$reader.txt" 2>&1 || fail "$reader: status $?: $(tail -n 40 "$reader.txt")"
    said=$(tail -n 1 "$reader.txt")
    echo "$said"
    expect_match "$said" "^$reader: ${#files[@]} files read, [1-9][0-9]* taken$" "what was read"
    # A seed that no reader takes tries nothing but the recognition. What is refused is a broken recording or a crasher.
    taken=${said%" taken"}
    least=$((${#files[@]} / 2))
    [[ $reader != warehouse && $reader != merge ]] || least=$((${#files[@]} / 4)) # damage at places that mean something else in each version of the schema
    expect_between "${taken##* }" $least "${#files[@]}" "files that $reader took"
    count=$((count + 1))
done
[ "$count" -ge 13 ] || fail "only $count readers"
for folder in "$ROOT"/fixtures/crashers/*; do
    [ -f "$ROOT/fuzz/fuzz_$(basename "$folder").c" ] || fail "$folder belongs to no reader"
done

# The replay itself notices: a reader that crashes on "crash", never ends on "hang", and takes the rest.
cat >reader.c <<'C'
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "fuzz/replay.h"
unsigned replay_taken;
bool replay_is_whole;
int replay_toy(const uint8_t *data, size_t size);
int replay_toy(const uint8_t *data, size_t size) {
    if (size == 5 && memcmp(data, "crash", 5) == 0) abort();
    while (size == 4 && memcmp(data, "hang", 4) == 0) __asm__ volatile("");
    replay_taken++;
    return 0;
}
C
${CC:-gcc} -I"$ROOT" -DLIMIT_S=1 "-DREADERS=READER(toy)" -o toy "$ROOT/fuzz/replay.c" reader.c || fail "the replay of a toy"
printf 'good' >good && printf 'crash' >crash && printf 'hang' >hang
expect_match "$(./toy toy good good)" 'toy: 2 files read, 2 taken$' 'good files'
expect_status 134 ./toy toy good crash >out.txt 2>err.txt
expect_equal "$(tail -n 1 out.txt)" 'toy: crash' 'the file of the crash'
expect_status 1 ./toy toy hang good >out.txt 2>&1
expect_match "$(cat out.txt)" 'CPU time' 'a hang'
expect_status 2 ./toy toy 2>out.txt
expect_match "$(cat out.txt)" 'no file' 'an empty corpus'
expect_status 2 ./toy nothing good 2>out.txt
expect_status 1 ./toy toy missing 2>out.txt
mkdir -p empty/fuzz && cp "$ROOT/fuzz/seeds" empty/fuzz/
expect_status 1 empty/fuzz/seeds folded "$TMP/none" 2>out.txt
