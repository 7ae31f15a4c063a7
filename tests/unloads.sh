# What a library does when it is unloaded has its whole stack, as gdb has it: the code between it and the loader, which runs destructors,
# has no call frame information.
# quick
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/unloads" >out.txt
expect_equal "$(cat out.txt)" unloaded 'what the program says'
stack=$(sql t.db "SELECT group_concat(function, ';') FROM (SELECT function FROM frames
    WHERE trace_id = (SELECT trace_id FROM heap WHERE function = 'site_unloaded') AND NOT inlined ORDER BY depth)")
expect_match "$stack" '^site_unloaded;unloaded_end;.*;__do_global_dtors_aux;.*;unload;main;' 'stack of what the library did at its end'
expect_equal "$(sql t.db "SELECT sum(truncated) FROM profiles WHERE kind = 'heap'")" 0 'stacks that were cut'
check_db t.db

cat >script.gdb <<'END'
set pagination off
set debuginfod enabled off
set breakpoint pending on
break site_unloaded
run
echo @\n
bt
END
gdb -nx -batch -x script.gdb "$FIXTURES/unloads" >gdb.txt 2>&1 </dev/null
if grep -Eq 'ptrace: Operation not permitted|Cannot trace' gdb.txt; then skip 'this machine does not let gdb trace a process'; fi
# The names of the program and its library; as many frames of libc and of the loader between them. gdb gives an address to each frame but
# the first and those of functions that hold an inlined one.
gdb=$(sed '1,/^@/d' gdb.txt | awk '$1 == "#0" {printf "%s", $2} /^#[0-9]/ && $3 == "in" {printf ";%s", $4}')
own() { grep -Eo 'site_unloaded|unloaded_end|__do_global_dtors_aux|unload|main' <<<"$1" | tr '\n' ';'; }
expect_match "$gdb" '^site_unloaded;.*;main$' "gdb's stack: $(tail -n 20 gdb.txt)"
expect_equal "$(own "${stack/;main;*/;main}")" "$(own "$gdb")" 'the stack, and that of gdb'
expect_equal "$(tr -cd ';' <<<"${stack/;main;*/;main}" | wc -c)" "$(tr -cd ';' <<<"$gdb" | wc -c)" 'frames, and those of gdb'
