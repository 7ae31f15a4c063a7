# Of a stripped program clear top and clear doctor say which package or server would name its places. The lists of dpkg and dpkg-query are the test's.
. "$(dirname "$0")/lib.sh"
cat >walk.c <<'C'
#include <stdlib.h>
static __attribute__((noinline)) void *one(int n) { void *p = malloc(n); __asm__ volatile("" : "+r"(p)); return p; }
static __attribute__((noinline)) void *two(int n) { void *p = one(n + 1); __asm__ volatile("" : "+r"(p)); return p; }
static __attribute__((noinline)) void *three(int n) { void *p = two(n + 1); __asm__ volatile("" : "+r"(p)); return p; }
int main(void) { for (int i = 0; i < 50; i++) three(i); return 0; }
C
"${CC:-gcc}" -O1 -fno-optimize-sibling-calls -o walk walk.c && cp walk named && strip walk || fail build
mkdir -p bin lists/info
export DPKG_ADMINDIR=$TMP/lists
dpkg() { printf '#!/bin/sh\n%s\n' "$1" >bin/dpkg-query && chmod +x bin/dpkg-query; }
said() { "$CLEAR" profile -q --no-files --cpu=off --db "$1.db" "./$1" && PATH=$TMP/bin:$PATH "$CLEAR" top --kind heap --db "$1.db" 2>&1 >/dev/null | grep stripped; }
dpkg '[ "$3" = "'"$TMP"'/walk" ] && echo "walker:amd64: $3"'
expect_match "$(said walk)" '^clear: walk is stripped: addresses stand for names in [0-9]+ places; the package walker-dbgsym has them \(from the archive of debug symbols\), or DEBUGINFOD_URLS when it is recorded$' 'of a package'
dpkg '[ "$4" = "/usr'"$TMP"'/walk" ] && echo "merged: $4"; exit 1'
expect_match "$(said walk)" 'the package merged-dbgsym has them' 'of a package that has it below /usr'
dpkg 'echo "dpkg-query: no path found matching pattern" >&2; exit 1'
expect_match "$(said walk)" '; record a build that is not stripped, or with DEBUGINFOD_URLS set$' 'of no package'
dpkg 'exec sleep 60'
start=$SECONDS
expect_match "$(said walk)" '; record a build that is not stripped' 'of a dpkg that does not end'
[ $((SECONDS - start)) -lt 50 ] || fail 'dpkg was waited for'
dpkg 'echo asked >>asked.txt'
printf '%s\n' /. "$TMP" "$TMP/walk-on" >lists/info/walk-on.list
printf '%s\n' /. "$TMP" "$TMP/walk" >lists/info/walk-tools:amd64.list
expect_match "$(said walk)" 'the package walk-tools-dbgsym has them' 'of a package that begins like the file'
printf '%s\n' /. "/usr$TMP/walk" >lists/info/walk-tools.list && rm lists/info/walk-tools:amd64.list
expect_match "$(said walk)" 'the package walk-tools-dbgsym has them' 'of one that has it below /usr'
[ ! -e asked.txt ] || fail 'dpkg-query was asked for what the lists have'
expect_equal "$(said named)" '' 'a program with its names'
cat >leak.c <<'C'
#include <stdlib.h>
static __attribute__((noinline)) void *one(int n) { void *p = malloc(n); __asm__ volatile("" : "+r"(p)); return p; }
int main(void) { for (int i = 0; i < 5000; i++) one(i); return 0; }
C
"${CC:-gcc}" -O1 -o leak leak.c && cp leak leak-named && strip leak || fail build
dpkg '[ "$3" = "'"$TMP"'/leak" ] && echo "leaker: $3"'
for one in leak leak-named; do
    "$CLEAR" profile -q --no-files --cpu=off --db "$one.db" "./$one" && PATH=$TMP/bin:$PATH "$CLEAR" doctor --db "$one.db" >"$one.txt" 2>"$one.err" || fail "clear doctor: $(cat "$one.err")"
done
grep -qF 'leak+0x' leak.txt || fail "no finding with an address: $(cat leak.txt)"
expect_match "$(cat leak.err)" '^clear: leak is stripped: addresses stand for names in [0-9]+ warnings?; the package leaker-dbgsym has them' 'the doctor, too'
expect_equal "$(cat leak-named.err)" '' 'a program with its names'
"$CLEAR" report top --kind heap --db walk.db 2>&1 | grep stripped && fail 'clear report says what pprof does'
true
