# code.bash: programs of several kinds and profiles of them, for what shows machine code. Source it after lib.sh.
command -v go >/dev/null || skip "go is not installed: nothing to compare with"
viewer=$BUILD/pprof-binutils-$(go env GOVERSION)
"$ROOT/tests/build-pprof" "$viewer" || fail "pprof cannot be built"
export HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none TZ=UTC
unset PPROF_TOOLS
# With these tools alone, whatever else is installed.
mkdir gnu llvm
for tool in objdump nm addr2line; do ln -s "$(command -v $tool)" gnu/ || fail "no $tool"; done
for tool in llvm-objdump llvm-nm llvm-symbolizer; do ln -s "$(command -v $tool)" llvm/ 2>/dev/null; done

build_programs() { # pie, nopie, plain (no debug information), libshop.so, each with FILE.pb.gz of made-up samples
    cat >shop.cc <<'CXX'
#include <vector>
namespace shop {
__attribute__((noinline)) void first_of_all(volatile int *n) { for (int i = 0; i < 200; i++) { *n += 1; *n ^= 3; *n *= 5; *n -= 7; *n |= 9; *n += i; *n ^= i; *n *= i; *n -= i; *n |= i;
    *n += 11; *n ^= 13; *n *= 15; *n -= 17; *n |= 19; *n += 2 * i; *n ^= 2 * i; *n *= 2 * i; *n -= 2 * i; *n |= 2 * i; *n += 3 * i; *n ^= 3 * i; *n *= 3 * i;
    *n += 21; *n ^= 23; *n *= 25; *n -= 27; *n |= 29; *n += 4 * i; *n ^= 4 * i; *n *= 4 * i; *n -= 4 * i; *n |= 4 * i; *n += 5 * i; *n ^= 5 * i; *n *= 5 * i; } }
template <typename T> struct Stack {
    std::vector<T> items;
    __attribute__((noinline)) void push(const T &item) { items.push_back(item); }
    __attribute__((noinline)) T total() const { T sum{}; for (const T &each : items) sum += each; return sum; }
};
__attribute__((noinline)) double price(int a) { return a * 1.5; }
__attribute__((noinline)) double price(double a, int b) { return a / (b + 1); }
bool operator<(const Stack<int> &a, const Stack<int> &b) { return a.total() < b.total(); }
}
extern "C" double shop_run(int n) {
    shop::Stack<int> ints; shop::Stack<double> reals;
    for (int i = 0; i < n; i++) { ints.push(i); reals.push(shop::price(i) + shop::price(i, 3)); }
    return ints < ints ? 1 : reals.total() + ints.total();
}
CXX
    cp "$ROOT/fixtures/code.c" . # sources are read below the working directory
    "${CC:-gcc}" -O2 -g -fPIE -pie -o pie "$PWD/code.c" && "${CC:-gcc}" -O2 -g -fno-pie -no-pie -o nopie "$PWD/code.c" &&
        "${CC:-gcc}" -O1 -fPIE -pie -o plain "$PWD/code.c" && g++ -O1 -g -fPIC -shared -o libshop.so shop.cc || fail "programs"
    "$ROOT/tests/code_profile.py" pie.pb.gz pie@555555554000 '^hot_' && "$ROOT/tests/code_profile.py" nopie.pb.gz nopie '^hot_|^cold' &&
        "$ROOT/tests/code_profile.py" plain.pb.gz plain@7ff000000000 '^hot_' &&
        "$ROOT/tests/code_profile.py" library.pb.gz pie@555555554000 '^cold' libshop.so@7f0000000000 'Stack|price' || fail "profiles"
}

build_go() { # hot, hot.pb.gz: a profile that Go took itself
    cat >hot.go <<'GO'
package main

import (
	"fmt"
	"os"
	"runtime/pprof"
	"syscall"
)

//go:noinline
func hotHash(v []uint64) uint64 {
	h := uint64(1)
	for _, x := range v {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

func cpuSeconds() float64 { // a busy machine gives little of it in a second
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return float64(used.Utime.Nano()+used.Stime.Nano()) / 1e9
}

func main() {
	f, _ := os.Create(os.Args[1])
	pprof.StartCPUProfile(f)
	v := make([]uint64, 1<<16)
	s := uint64(0)
	for cpuSeconds() < 0.7 {
		s += hotHash(v)
	}
	pprof.StopCPUProfile()
	f.Close()
	fmt.Println(s)
}
GO
    GOCACHE=$go_cache GO111MODULE=off go build -o hot hot.go && ./hot hot.pb.gz >/dev/null || fail "go"
}
go_cache=$BUILD/go-cache
