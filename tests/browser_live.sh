# A run that is being recorded, in a browser: new windows come by themselves, zoom and focus stay, recording is switched with the token.
# plain: the scripts of the pages, with the same answers that tests/serve*.sh ask for
# retry: chromium and its driver, which are not ours and stop for seconds on a busy machine
. "$(dirname "$0")/lib.sh"
cat >worker.c <<'END'
#include <stdlib.h>
#include <unistd.h>
__attribute__((noinline)) static void *work(size_t size) {
    void *volatile block = malloc(size);
    return block;
}
int main(void) { /* allocates until the file "stop" is there, for a minute at most */
    for (int i = 0; i < 6000 && access("stop", F_OK) != 0; i++) {
        free(work(1000));
        usleep(10000);
    }
    return 0;
}
END
"$CC" -O1 -g -fno-omit-frame-pointer -o worker worker.c || fail "compiling the worker"
python3 "$ROOT/tests/browser_live.py" || fail "a live run"
