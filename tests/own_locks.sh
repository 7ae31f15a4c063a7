# Locks of the program's own, told through clear.h: counts and waits as it told them, holds between bounds by its own clock.
# alone: the bounds are as narrow as the scheduler lets them be
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

expect_status 0 profile -- "$FIXTURES/own_locks" >out.txt
expect_tables out.txt
expect_exact
near() { # near GOT WANT WHAT: nanoseconds there and back through ticks lose less than one each of 12,000 times, and 0.1 % for the rate
    expect_between "$1" $(($2 - $2 / 1000 - 12000)) $(($2 + $2 / 1000 + 12000)) "$3"
}
while read -r _ name wait wait_max read_wait read_max; do
    IFS='|' read -r -a got <<<"$(sql t.db "SELECT sum(wait_ns), max(max_wait_ns), sum(read_wait_ns), max(read_max_wait_ns), max(kind) FROM lock_use WHERE object GLOB '*:$name'")"
    near "${got[0]}" "$wait" "wait_ns of $name"
    near "${got[1]}" "$wait_max" "max_wait_ns of $name"
    near "${got[2]}" "$read_wait" "read_wait_ns of $name"
    near "${got[3]}" "$read_max" "read_max_wait_ns of $name"
    expect_equal "${got[4]}" own "kind of $name"
done < <(grep '^lock_ns ' out.txt)
while read -r _ name inner outer; do
    got=$(sql t.db "SELECT sum(hold_ns) FROM lock_use WHERE object GLOB '*:$name'")
    expect_between "$got" $((inner - inner / 1000)) $((outer + outer / 1000)) "hold_ns of $name"
done < <(grep '^held_ns ' out.txt)
check_db t.db
