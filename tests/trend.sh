# clear trend: figures from run to run, their changes, commits, what is accepted; against a warehouse that Python fills with known steps.
# build: plain
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/trend_warehouse.py" t.db "$CLEAR" || fail 'making the warehouse'
check_db t.db
trend() { "$CLEAR" trend --db t.db "$@"; }

# ---- all totals: what was made to change, and nothing else ----
trend --json >all.json || fail "trend: $?"
trend >all.txt || fail 'trend as text'
trend alloc_count >one.txt || fail 'trend of a figure'
trend alloc_bytes --of 'function *' --json >functions.json || fail 'trend of functions'
trend alloc_bytes --of '*' --json >everything.json || fail 'trend of all subjects'
trend lock_wait_ns --of 'lock *' --json >locks.json || fail 'trend of locks'
trend findings --of 'finding *leak*' --json last=42 >findings.json || fail 'trend of findings'
trend cpu_ns --format csv last=14 >cpu.csv || fail 'trend as CSV'
trend alloc_count all --json >everyone.json || fail 'trend of other runs too'
python3 "$ROOT/tests/trend_check.py" t.db || fail 'the trends are not what was made'
expect_match "$(cat all.txt)" '^60 runs, .*; 2 runs without an end left out' 'the head'
expect_match "$(cat all.txt)" 'alloc_count +31 +[0-9-]+ [0-9:]+ +10,000 +10,100 +\+1\.0 % +exact +0{8}1d\.\.0{8}1e' 'an exact change'
expect_match "$(tail -1 all.txt)" "^which functions: clear trend cpu_ns --of 'function \*'\$" 'the next question'
expect_match "$(cat one.txt)" '^figure +course +first +latest +changes' 'headings'

# ---- one run on each side: 1 % of an exact figure ----
trend alloc_count 30,31 --json >pair.json || fail 'two runs'
expect_equal "$(python3 -c 'import json; print([(s["figure"], c["percent"]) for s in json.load(open("pair.json"))["series"] for c in s["changes"]])')" \
    "[('alloc_count', 1)]" 'changes between two runs'

# ---- known changes ----
expect_status 0 trend --accept 31 alloc_count 'the cache; "new"' >accepted.txt
expect_equal "$(cat accepted.txt)" 'run 31: change of alloc_count accepted' 'what --accept says'
expect_match "$(trend)" 'alloc_count +31 .*accepted: the cache; "new"' 'an accepted change'
expect_status 0 trend --accept 31 alloc_bytes 'all of them' --of 'function *' >/dev/null
expect_equal "$(sqlite3 t.db "SELECT count(*) FROM accepted_changes JOIN runs ON uuid = run_uuid WHERE id = 31 AND accepted_ns > 1e18")" 2 'rows'
trend alloc_bytes --of 'function *' --json >functions.json
expect_equal "$(python3 -c 'import json; print({c["accepted"] for s in json.load(open("functions.json"))["series"] for c in s["changes"] if c["run_id"] == 31})')" \
    "{'all of them'}" 'accepted by a pattern'
# A change whose run is not sure may be accepted in any run of its range.
expect_status 0 trend --forget 31 alloc_count >/dev/null
expect_status 2 trend --forget 31 alloc_count 2>err
expect_match "$(cat err)" 'no accepted change of alloc_count of the whole run in run 31' 'forgetting twice'
trend --json >again.json && cmp -s all.json again.json || fail 'nothing is left of what was forgotten'
expect_equal "$(trend --format csv alloc_count | grep -c 'the cache')" 0 'CSV after that'

# ---- refusals ----
while read -r words; do
    IFS='|' read -ra list <<<"$words"
    expect_status 2 trend "${list[@]}" >/dev/null 2>err
done <<'END'
alloc_cuont
--of|function *
alloc_bytes|--of|function nowhere
nothing:here=1
--accept|31
--accept|31|alloc_count|
--accept|31|no_such|why
--accept|9999|alloc_count|why
--forget|31
--accept|--forget|31|alloc_count
--format|xml
END
expect_match "$(trend alloc_cuont 2>&1)" "no figure|no run has a figure 'alloc_cuont'; did you mean alloc_count\?" 'a misspelt figure'
expect_status 2 trend --of alloc_bytes 2>err
expect_match "$(cat err)" 'name the figure, too, as in clear trend alloc_bytes --of' 'a figure in the place of its subject'
expect_status 1 "$CLEAR" trend --db nowhere.db 2>/dev/null
expect_status 1 "$CLEAR" trend --db nowhere.db --accept 1 alloc_count why 2>/dev/null
[ -e nowhere.db ] && fail 'a warehouse was made'

# ---- real runs: a program that allocates once more ----
cat >program.c <<'C'
#include <stdlib.h>
int main(void) {
    for (int i = 0; i < COUNT; i++) { char *volatile block = malloc(100); free(block); }
    return 0;
}
C
for count in 100 100 101; do
    gcc -g -O0 -DCOUNT=$count program.c -o program || fail gcc
    "$CLEAR" profile -q --db real.db --tag git_commit=commit$count ./program || fail profile
done
"$CLEAR" trend --db real.db alloc_count --json >real.json || fail 'trend of real runs'
expect_equal "$(python3 -c 'import json; print([(c["run_id"], c["after"] - c["before"], c["commit_before"], c["commit_after"]) for c in json.load(open("real.json"))["series"][0]["changes"]])')" \
    "[(3, 1, 'commit100', 'commit101')]" 'one allocation more'
"$CLEAR" trend --db real.db alloc_count --of 'function main' >real.txt && grep -q 'function main.*100.*101' real.txt || fail 'the function'
