# The same stacks as gdb's, at each site behind a library without frame pointers.
# build: plain
. "$(dirname "$0")/lib.sh"

sites='site_rubbish site_decoy site_skips_one site_alloca site_realigned site_drap site_forced site_nested site_in_handler_nofp site_for_debugger'
{
    echo 'set pagination off'
    echo 'set debuginfod enabled off'
    echo 'handle SIGUSR1 SIGUSR2 nostop noprint pass'
    for site in $sites; do echo "break $site"; done
    echo 'run'
    for site in $sites; do printf 'echo @ %s\\n\nbt\ncontinue\n' "$site"; done
} >script.gdb
gdb -nx -batch -x script.gdb "$FIXTURES/stacks" >gdb.txt 2>&1 </dev/null
if grep -Eq 'ptrace: Operation not permitted|Cannot trace' gdb.txt; then skip 'this machine does not let gdb trace a process'; fi

# "#1  0x... in nofp_rubbish (callback=...) at ..." after "@ site": names, leaf first, to main.
awk '/^@ / {site = $2; next}
    /^#[0-9]/ && site != "" {
        name = $2
        if ($3 == "in") name = $4
        if (name == "<signal") name = "SIGNAL"
        stack = stack (stack == "" ? "" : ";") name
        if (name == "main") {print site, stack; site = stack = ""}
    }' gdb.txt >want.txt
expect_equal "$(wc -l <want.txt)" "$(wc -w <<<"$sites")" "stacks that gdb printed: $(tail -n 20 gdb.txt)"

expect_status 0 profile -- "$FIXTURES/stacks" >out.txt
while read -r site want; do
    got=$(sql t.db "SELECT group_concat(CASE WHEN module = 'stacks' OR module GLOB 'lib_*' THEN function ELSE '*' END, ';') FROM (
        SELECT function, module FROM frames WHERE trace_id = (SELECT trace_id FROM heap WHERE function = '$site') ORDER BY depth)")
    # Names inside libc depend on its debug symbols, and gdb calls a handler's frame by no function's name: all are "*".
    want=$(awk -v RS=';' '{sub(/\n/, ""); printf "%s%s", (NR > 1 ? ";" : ""), (/^(site_|nofp_|handler|raises|signals|in_between|main)/ ? $0 : "*")}' <<<"$want")
    want=$(sed -E 's/(;\*)+/;*/g' <<<"$want")
    got=$(sed -E 's/(;\*)+/;*/g; s/;main;.*/;main/' <<<"$got")
    expect_equal "$got" "$want" "stack of $site"
done <want.txt
