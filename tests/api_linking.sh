# clear.h in each way that a program can be linked: as an executable that is position-independent or not, in a library that is opened later,
# without optimisation, from C, C++ and Rust. It needs nothing to link and runs alone.
# plain: the runtime, which has no sanitizers
. "$(dirname "$0")/lib.sh"

flags="-I$ROOT/ingest -I$ROOT/fixtures -g -pthread -Wall -Wextra -Werror"
source=$ROOT/fixtures/clear_api.cc
# The constants of clear_api.cc, times its three threads.
check() { # check WHAT: the newest run
    local run='run_id = (SELECT max(id) FROM runs)' what=$1
    expect_equal "$(sql t.db "SELECT struct_size, reads, commits, retries, update_failures, multi_commits FROM cell_use WHERE $run AND struct_size = 256")" \
        '256|30|12|45|3|3' "$what: the cell"
    expect_equal "$(sql t.db "SELECT object, capacity, pushes, pops, push_blocked, pop_blocked, max_depth, push_blocked_ns, pop_blocked_ns FROM channel_use WHERE $run")" \
        'api|8|15|9|3|3|5|3000|6000' "$what: the channel"
    expect_equal "$(sql t.db "SELECT sum(acquires), sum(contended), sum(read_acquires), sum(read_contended) FROM lock_use WHERE $run AND kind = 'own' GROUP BY object_id")" '3|3|3|0' "$what: the lock"
    expect_equal "$(sql t.db "SELECT alloc_count, alloc_bytes FROM heap WHERE $run AND function GLOB '*calls*'")" '18|1800' "$what: the arena"
    expect_equal "$(sql t.db "SELECT sum(spawns), sum(runs), sum(exits) FROM task_sites JOIN profiles ON profiles.id = profile_id WHERE $run")" '24|24|24' "$what: the fibers"
}

try() { # try WHAT PROGRAM: alone and recorded
    expect_equal "$("$2")" 'not recorded' "$1, alone"
    expect_equal "$(profile -q -o t.profile -- "$2")" recorded "$1, under clear profile"
    check "$1"
}

build() { # build NAME FLAGS...
    local name=$1
    shift
    # shellcheck disable=SC2086
    g++ -std=c++17 $flags "$@" -o "$name" "$source" || fail "g++ $*"
}
build pie -O2 -pie -fPIE && try 'position-independent' ./pie
build plain -O0 && try 'not optimised' ./plain
build inlined -O3 -flto && try 'optimised at link time' ./inlined
# As clear.h says: with -fno-pie in place of -fPIE the linker would settle the weak symbols for good.
build fixed -O2 -fPIE -no-pie && try 'at a fixed address' ./fixed
build now -O2 -Wl,-z,now -Wl,-z,relro -Wl,--as-needed && try 'bound at the start' ./now

build plugin.so -O2 -fPIC -shared -DCLEAR_API_LIBRARY
cat >host.c <<'C'
#include <dlfcn.h>
int main(void) {
    void *library = dlopen("./plugin.so", RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = library ? (int (*)(void))dlsym(library, "clear_api_main") : 0;
    return run ? run() : 1;
}
C
gcc -O1 -o host host.c || fail 'host.c'
try 'in a library that is opened' ./host

# The header alone, as strict as C and C++ compilers can be, and what a program calls of it leaves nothing undefined that must be there.
echo '#include <clear.h>
int main(void) { clear_cell_read(0); return 0; }' >strict.c
for standard in c99 c11 c17; do
    gcc -std=$standard -I"$ROOT/ingest" -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wconversion -Werror -o strict strict.c && ./strict || fail "clear.h with $standard"
done
cp strict.c strict.cc
g++ -std=c++11 -I"$ROOT/ingest" -Wall -Wextra -Wpedantic -Wold-style-cast -Wshadow -Werror -o strict strict.cc && ./strict || fail 'clear.h with c++11'
expect_equal "$(nm -u strict | grep -c ' U .*clear')" 0 'symbols that must be there'

if command -v rustc >/dev/null; then
    rustc -O -o rusty "$ROOT/fixtures/clear_api.rs" 2>rust.err || fail "rustc: $(cat rust.err)"
    expect_equal "$(./rusty)" 'not recorded' 'Rust, alone'
    expect_equal "$(profile -q -o t.profile -- ./rusty)" recorded 'Rust, under clear profile'
    expect_equal "$(sql t.db 'SELECT struct_size, reads, commits, retries FROM cell_use WHERE run_id = (SELECT max(id) FROM runs)')" '256|10|1|2' 'the cell of the Rust program'
fi
check_db t.db
