# The web pages of findings, comparisons, callers, labels, graphs, code, trends, windows, locks and channels: every number as clear prints it.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
needs_browser
cp "$ROOT/fixtures/fault_tiny_allocs.c" parser.c
"$CC" -O1 -g -fno-omit-frame-pointer -I "$ROOT/fixtures" -o parser parser.c || fail "compiling the parser"
cat >weather.c <<'END'
#include <stdlib.h>
__attribute__((noinline)) static void grown(long count) {
    for (long i = 0; i < count; i++) free(*(void *volatile *)&(void *){malloc(4096)});
}
__attribute__((noinline)) static void noisy(long count) {
    for (long i = 0; i < count; i++) free(*(void *volatile *)&(void *){malloc(4096)});
}
int main(int argc, char **argv) {
    if (argc != 3) return 1;
    grown(atol(argv[1]));
    noisy(atol(argv[2]));
    return 0;
}
END
"$CC" -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o weather weather.c || fail "compiling the weather"
{ # two hundred functions that each lose memory
    echo '#include <stdlib.h>'
    echo 'static void *volatile kept;'
    for i in $(seq 100 299); do echo "__attribute__((noinline)) static void lose_$i(void) { for (int n = 0; n < 300; n++) kept = malloc($i); }"; done
    echo 'int main(void) {'
    for i in $(seq 100 299); do echo "lose_$i();"; done
    echo 'kept = 0; return 0; }'
} >leaky.c
"$CC" -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -o leaky leaky.c || fail "compiling what loses memory"
python3 "$ROOT/tests/browser_pages.py" || fail "a page"
