# C++: the forms of operator new, containers, exceptions, thread_local destructors, std::mutex; names demangled, overloads apart.
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/cxx" >out.txt
through() { # what every stack through that function comes to, by its name or, to tell overloads apart, by the linker's
    sql t.db "SELECT sum(alloc_count) || ' ' || sum(alloc_bytes) || ' ' || sum(free_count) || ' ' || sum(free_bytes) FROM heap
        WHERE trace_id IN (SELECT traces.id FROM traces, json_each(traces.stack) AS step
                           JOIN location_lines ON location_lines.location_id = step.value
                           JOIN functions ON functions.id = location_lines.function_id
                           WHERE '$1' IN (functions.name, functions.system_name))"
}
while read -r name counts; do
    expect_equal "$(through "$name")" "$counts" "stacks through $name"
done < <(sed -n 's/^heap //p' out.txt)
expect_equal "$(through _ZN4shop6Basket3addEPKc)" '1 77 1 77' 'the other overload'
expect_equal "$(through shop::Basket::add)" '11 132 11 132' 'both, by the name for people'
grep '^lock' out.txt >locks.txt
expect_tables locks.txt
expect_exact
# operator new stays in the stack but is nobody's finding.
expect_equal "$(sql t.db "SELECT count(*) FROM heap WHERE function GLOB 'operator new*'")" 0 'sites named after operator new'
[ "$(sql t.db "SELECT count(*) FROM frames WHERE function GLOB 'operator new*'")" -gt 0 ] || fail 'operator new is missing from the stacks'
# Fifty exceptions, each thrown from throw_one and freed when caught.
expect_equal "$(sql t.db "SELECT sum(alloc_count) = sum(free_count), sum(alloc_count) >= 50 FROM heap
    WHERE trace_id IN (SELECT trace_id FROM frames WHERE function = 'throw_one')")" '1|1' 'exceptions'
# Nor is std::mutex: with the callers recorded, a lock is taken by who asked for the guard.
expect_status 0 profile --sync-callstacks --sample=1 -- "$FIXTURES/cxx" >out.txt
expect_equal "$(sql t.db "SELECT object, function, sum(acquires), sum(read_acquires) FROM lock_use
    WHERE object IN ('cxx:cxx_mutex', 'cxx:cxx_shared') AND stack_of = 'caller' GROUP BY 1, 2 ORDER BY 1")" \
    $'cxx:cxx_mutex|lock_some|40|0\ncxx:cxx_shared|lock_some|20|40' 'who takes the locks'

# A finding points at the program's own line and not into a header of the library, by a name that a person would write.
cat >orders.cc <<'CC'
#include <map>
#include <string>
#include <vector>
template <typename T> struct Cache {
    std::map<std::string, T> all;
    __attribute__((noinline)) void put(const std::string &key, const T &value) { all[key] = value; }
};
int main() {
    auto *cache = new Cache<std::vector<int>>;
    for (int i = 0; i < 3000; i++) cache->put("an order with a rather long name " + std::to_string(i), std::vector<int>(20 + i % 7));
}
CC
"${CXX:-g++}" -g -O1 -o orders orders.cc || fail "compiling orders.cc"
expect_status 0 profile -q --db cc.db -o none.profile ./orders >out.txt
expect_equal "$(sql cc.db "SELECT sum(alloc_count) FROM heap WHERE alloc_count >= 3000 AND file NOT LIKE '%orders.cc'")" '' \
    'sites of the orders outside the program'
"$CLEAR" doctor --db cc.db --top 0 >plain.txt && "$CLEAR" doctor --db cc.db --top 0 --full-names >full.txt || fail 'clear doctor'
expect_match "$(cat plain.txt)" '^ *\[[0-9]+\] Cache<…>::put  orders\.cc:6' 'template arguments are folded'
expect_match "$(cat full.txt)" '^ *\[[0-9]+\] Cache<std::vector<int, std::allocator<int> > >::put  orders\.cc:6' '--full-names'
"$CLEAR" doctor --db cc.db --by bytes --top 0 >plain.txt || fail 'clear doctor --by bytes'
expect_match "$(cat plain.txt)" ' std::string::' "the library's strings"
grep -q 'basic_string<' plain.txt && fail 'basic_string<...> in a report'
check_db t.db
