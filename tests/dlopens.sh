# Two libraries that take turns at the same addresses keep their own figures and names.
# build: plain
. "$(dirname "$0")/lib.sh"

check_turns() { # check_turns [ROUNDS]
    rm -f t.db
    expect_status 0 profile -- "$FIXTURES/dlopens" "$@" >out.txt
    [ "$(awk '$1 == "reused" {print $2}' out.txt)" -gt 0 ] || fail "the loader did not reuse an address, so nothing was proved: $(cat out.txt)"
    expect_tables out.txt
    expect_exact
    for pair in plugin:lib_plugin.so second:lib_second.so; do
        name=${pair%:*} module=${pair#*:}
        # The whole stack is of one library: make, step six times and once more, then the program.
        expect_equal "$(sql t.db "SELECT DISTINCT stacks.stack FROM heap JOIN stacks USING (trace_id) WHERE function = '${name}_make'" | sed 's/.*;main;/main;/')" \
            "main;use$(printf ";${name}_step%.0s" 1 2 3 4 5 6 7);${name}_make" "stacks of $module"
        expect_equal "$(sql t.db "SELECT DISTINCT module FROM heap WHERE function = '${name}_make'")" "$module" 'module'
    done
    check_db t.db
}
memory() { sql t.db "SELECT CAST(value AS INT) FROM counters WHERE name = 'recorder.segment_bytes'"; }

check_turns
few=$(memory)
# However often they take turns: it needs a stack for each library and not for each turn, and no turn looks at what was unloaded before.
check_turns 2000
[ "$(memory)" -lt $((few + (256 << 10))) ] || fail "2,000 turns took $(memory) bytes of shared memory, 10 took $few"
expect_equal "$(sql t.db "SELECT count(*) FROM profiles WHERE comments LIKE '%addresses%'")" 0 'addresses without names'

# More libraries than are kept apart: every block counts, and what has no name is told.
mkdir plugins
for ((i = 0; i < 2200; i++)); do ln -s "$FIXTURES/lib_plugin.so" "plugins/$i.so"; done
rm -f t.db
expect_status 0 profile -- "$FIXTURES/dlopens" each "$PWD/plugins" 2200 >out.txt 2>err.txt
grep -q 'clear: warning: [0-9,]* addresses without a name' err.txt || fail "nothing says that names are missing: $(cat err.txt)"
expect_match "$(sql t.db "SELECT comments FROM profiles WHERE kind = 'heap'")" 'WARNING: [0-9]* addresses have no names' 'comments'
named=$(sql t.db "SELECT sum(alloc_count) FROM heap WHERE function = 'plugin_make'")
[ "$named" -ge $((1900 * 50)) ] || fail "only $named blocks have names"
