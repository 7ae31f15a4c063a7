# The pages say what is so: links, files, commands, options, thresholds, lists (docs_check.py), and the tables that clear prints (docs/generate).
# quick
# build: plain
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/docs_check.py" "$CLEAR" >faults.txt || fail "$(cat faults.txt)"
"$ROOT/docs/generate" --check >stale.txt || fail "$(cat stale.txt)"

# What is wrong is seen: a broken link, a wrong figure, an option that is none, a stale table, a README that is too long.
mkdir tree || fail 'no directory'
(cd "$ROOT" && cp -r README.md CONTRIBUTING.md cli serve export query ingest schema base bench fuzz docs fixtures tests .ci "$TMP/tree/") || fail 'no copy'
spoil() { # spoil PAGE SED-SCRIPT REGEX: the checker must say REGEX of it
    cp "tree/$1" kept.md && sed -i "$2" "tree/$1"
    cmp -s kept.md "tree/$1" && fail "sed -i '$2' $1 changed nothing"
    printf '%s\n' "$1: .*$3" >>wanted.txt
}
spoil README.md 's,docs/tutorial.md,docs/tutorail.md,' 'docs/tutorail.md goes nowhere'
spoil README.md 's,`schema/rules.yaml`,`schema/rulez.yaml`,' 'there is no schema/rulez.yaml'
spoil README.md '$a\'"$(printf '%8000s' '')" 'more than 8,192'
spoil docs/recording.md 's/#limits)/#limitz)/' 'no heading #limitz'
spoil docs/recording.md 's/--interval/--intervall/' 'no command has the option --intervall'
spoil docs/recording.md '/--keep/d' 'profile --keep is not on it'
spoil docs/doctor.md 's/ 20 % of the pushes/ 25 % of the pushes/' 'channel_blocked_percent is 20 percent, not 25'
spoil docs/doctor.md 's/`exhausted`//' 'condition of cell: exhausted is missing'
spoil docs/tutorial.md 's/fault_leak.c:27:/fault_leak.c:28:/' 'line 28 of fault_leak.c'
spoil docs/formats.md '/^| `speedscope`/d' 'report speedscope'
spoil docs/formats.md 's/cow_bytes.bytes/cow_bytes/' 'the kind mvcc has'
spoil docs/compatibility.md '/^| redis/d' 'redis'
spoil docs/clear-h.md '/clear_fiber_run/d' 'clear_fiber_run'
python3 tree/tests/docs_check.py "$CLEAR" >faults.txt && fail 'nothing is wrong with the spoiled pages'
while IFS= read -r wanted; do expect_match "$(cat faults.txt)" "^$wanted" 'the faults'; done <wanted.txt
sed -i 's/^| lock | hot-long | critical/| lock | hot-long | warning/' tree/docs/doctor.md
expect_status 1 tree/docs/generate --check >stale.txt
expect_match "$(cat stale.txt)" 'docs/doctor.md: not what the product prints' 'a stale table'

# The configuration of docs/configuration.md is taken, and what it says is in force.
awk '/^    database: runs.sqlite/ {inside = 1} /^[^ ]/ {inside = 0} inside' "$ROOT/docs/configuration.md" | sed 's/^    //' >clear.yaml
[ "$(grep -c '^[a-z]*:' clear.yaml)" -ge 7 ] || fail 'the page has no configuration'
"$CLEAR" ingest --quiet "$ROOT/fixtures/corpus/dumps/ledger.profile" && [ -s runs.sqlite ] || fail "ingest: $?"
expect_equal "$("$CLEAR" query --format csv --no-header "SELECT value FROM rules WHERE name = 'lock_contended_percent'" | tr -d '\r')" 30.0 'its threshold'
expect_equal "$("$CLEAR" query --json @my-sites file='*' | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')" \
    "$(sql runs.sqlite "SELECT count(*) FROM heap WHERE file GLOB '*'")" 'its query'

# The example of docs/clear-h.md compiles, and calls what the runtime has.
awk '/^    #include <clear.h>/ {inside = 1} /^[^ ]/ {inside = 0} inside' "$ROOT/docs/clear-h.md" >calls.txt
{
    printf '#include <clear.h>\nint main(void) {\n'
    printf '    static char queue[1], cell[1], lock[1], arena[1], block[1], memory[8], *value = memory;\n'
    printf '    uint64_t capacity = 2, depth = 1, blocked_ns = 0, retries = 3, wait_ns = 5, fiber = 1;\n'
    printf '    size_t size = 64;\n    uint32_t site = 4;\n    int contended = 1;\n'
    grep -v '#include' calls.txt
    printf '    return 0;\n}\n'
} >calls.c
"${CC:-gcc}" -Wall -Wextra -Werror -g -I"$ROOT/ingest" -o calls calls.c || fail 'the example does not compile'
"$CLEAR" profile --quiet --db calls.sqlite ./calls || fail "profile: $?"
expect_equal "$(sql calls.sqlite 'SELECT sum(pushes), max(capacity) FROM channel_use')" '1|2' 'its channel'
expect_equal "$(sql calls.sqlite 'SELECT sum(commits), sum(retries) FROM cell_use')" '1|3' 'its cell'
expect_equal "$(sql calls.sqlite "SELECT sum(alloc_bytes) FROM heap WHERE function = 'main'")" 64 'its allocator'
