# Two libraries that take turns at the same addresses keep their own figures and names.
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/dlopens" >out.txt
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
