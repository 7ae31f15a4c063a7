# A site is the same one in every build of a program: with lines inserted, at each level of optimisation, with functions inlined or not,
# with LTO, by clang, built in another directory, stripped. The program's nine sites allocate known numbers of blocks, of known sizes.
# build: plain
. "$(dirname "$0")/lib.sh"

cat >nine.c <<'C'
#include <stdlib.h>
#include <string.h>
static void *volatile sink;
struct node { struct node *next; char text[40]; };

static void *make(size_t n) { return malloc(n); }
static struct node *new_node(size_t n) { struct node *p = make(sizeof *p + n); p->next = NULL; return p; }

static void two_ways(void) { sink = make(10), free(sink), sink = malloc(11), free(sink); }
static void one_line(void) { void *a = malloc(20), *b = malloc(21); sink = a; free(a); sink = b; free(b); }
static void two_lines(void) {
    sink = new_node(30);
    free(sink);
    sink = new_node(31);
    free(sink);
}
static int by_text(const void *a, const void *b) {
    char *copy = malloc(60);
    sink = strcpy(copy, a);
    int order = strcmp(copy, b);
    free(copy);
    return order;
}
static void sort(void) {
    char texts[2][8] = {"b", "a"};
    qsort(texts, 2, 8, by_text);
}
static void *deep(int n) { return n ? deep(n - 1) : make(80); }
static void *tail(size_t n) { return make(n); }
static void loop(void (*work)(void), int count) { for (int i = 0; i < count; i++) work(); }
static void recurse(void) { sink = deep(3); free(sink); }
static void chain(void) { sink = tail(90); free(sink); }
int main(void) {
    loop(two_ways, 101);
    loop(one_line, 103);
    loop(two_lines, 107);
    loop(sort, 109);
    loop(recurse, 113);
    loop(chain, 127);
}
C
# Blocks and bytes of each site, by arithmetic; a node has 48 bytes.
cat >expected.txt <<'TXT'
101 1010
101 1111
103 2060
103 2163
107 8346
107 8453
109 6540
113 9040
127 11430
TXT
CC=${CC:-gcc}
FLAGS=(-g -fno-builtin)
mkdir -p edited moved/src
sed 's/^    sink = new_node(30);/    \/* a line inside *\/\n&/; 1i /* lines */\n/* above */' nine.c >edited/nine.c
cp nine.c moved/src/nine.c
build() { # build NAME COMPILER FLAG...
    local name=$1
    shift
    "$@" "${FLAGS[@]}" -o "$name" nine.c
}
build base "$CC" -O2 || fail "compiling"
names=()
for level in 0 1 3 s; do build "O$level" "$CC" "-O$level" && names+=("O$level"); done
build noinline "$CC" -O2 -fno-inline && names+=(noinline)
build lto "$CC" -O2 -flto 2>/dev/null && names+=(lto)
clang --version >/dev/null 2>&1 && for level in 0 2; do build "clang$level" clang "-O$level" && names+=("clang$level"); done
(cd edited && "$CC" -O2 "${FLAGS[@]}" -o ../edited.out nine.c) && names+=(edited.out)
(cd moved/src && "$CC" -O2 "${FLAGS[@]}" -o ../../moved.out nine.c) && names+=(moved.out)
cp base stripped && strip stripped && names+=(stripped) # by its build id, of which the run of `base` knew the names
# An unrolled loop (GCC 13 and later, at -O2) has copies of its calls, which only lines would show to be one.
build symbols "$CC" -O2 -fno-inline -fno-unroll-loops && strip -g symbols && names+=(symbols.noinline) && mv symbols symbols.noinline
[ ${#names[@]} -ge 10 ] || fail "too few builds: ${names[*]}"

for name in base "${names[@]}"; do
    # Of the symbols alone, in a warehouse that never saw the debug information of this build.
    db=t.db
    [ "$name" = symbols.noinline ] && db=symbols.db && { "$CLEAR" profile -q --cpu=off --db $db -o x.profile --label base ./base || fail "base"; }
    "$CLEAR" profile -q --cpu=off --db $db -o x.profile --label "$name" "./$name" || fail "profiling $name"
    [ "$name" = base ] && continue
    "$CLEAR" doctor --db $db --json base --diff "$name" >answer.json || fail "doctor base --diff $name"
    python3 - >sites.txt <<'PY' || fail "sites of $name"
import json
answer = json.load(open("answer.json"))
for row in answer["rows"]:
    if row["by"] != "site": continue
    count, size = row["figures"]["alloc_count"], row["figures"]["alloc_bytes"]
    one = lambda side: "%d %d" % (count[side]["mean"], size[side]["mean"])
    print(one("old") if one("old") == one("new") else "%s (%s) -> %s" % (one("old"), row["subject"], one("new")))
PY
    expect_equal "$(sort -n sites.txt)" "$(cat expected.txt)" "the sites of base and $name"
    # The time of one run a side is the machine's.
    expect_match "$(python3 -c 'import json; print(json.load(open("answer.json"))["quote"])')" \
        '^(no change( that one run a side can tell from noise)?|duration [^;,]*; one run a side: no noise estimate)$' "what is quoted of base and $name"
done
check_db t.db
