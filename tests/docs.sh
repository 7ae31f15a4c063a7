# The pages say what is so: links, files, commands, options, thresholds, lists (docs_check.py), and the tables that clear prints (docs/generate).
. "$(dirname "$0")/lib.sh"

python3 "$ROOT/tests/docs_check.py" "$CLEAR" >faults.txt || fail "$(cat faults.txt)"
"$ROOT/docs/generate" --check >stale.txt || fail "$(cat stale.txt)"

# What is wrong is seen: a broken link, a wrong figure, an option that is none, a stale table, a README that is too long.
mkdir tree || fail 'no directory'
(cd "$ROOT" && cp -r README.md CONTRIBUTING.md cli serve export query ingest schema base bench fuzz docs fixtures tests .ci "$TMP/tree/") || fail 'no copy'
spoiled() { # spoiled PAGE SED-SCRIPT REGEX
    local page=$1 script=$2 regex=$3
    cp "tree/$page" kept.md && sed -i "$script" "tree/$page"
    cmp -s kept.md "tree/$page" && fail "sed -i '$script' $page changed nothing"
    python3 tree/tests/docs_check.py "$CLEAR" >faults.txt
    expect_match "$(cat faults.txt)" "$regex" "a fault in $page"
    mv kept.md "tree/$page"
}
spoiled README.md 's,docs/tutorial.md,docs/tutorail.md,' 'docs/tutorail.md goes nowhere'
spoiled README.md 's,`schema/rules.yaml`,`schema/rulez.yaml`,' 'there is no schema/rulez.yaml'
spoiled README.md '$a\'"$(printf '%8000s' '')" 'more than 8,192'
spoiled docs/recording.md 's/#limits)/#limitz)/' 'no heading #limitz'
spoiled docs/recording.md 's/--interval/--intervall/' 'no command has the option --intervall'
spoiled docs/recording.md '/--keep/d' 'profile --keep is not on it'
spoiled docs/doctor.md 's/ 20 % of the pushes/ 25 % of the pushes/' 'channel_blocked_percent is 20 percent, not 25'
spoiled docs/doctor.md 's/`exhausted`//' 'condition of cell: exhausted is missing'
spoiled docs/tutorial.md 's/fault_leak.c:27:/fault_leak.c:28:/' 'line 28 of fault_leak.c'
spoiled docs/formats.md '/^| `speedscope`/d' 'format speedscope'
spoiled docs/formats.md 's/cow_bytes.bytes/cow_bytes/' 'the kind mvcc has'
spoiled docs/compatibility.md '/^| redis/d' 'redis'
spoiled docs/clear-h.md '/clear_fiber_run/d' 'clear_fiber_run'
sed -i 's/^| lock | hot-long | critical/| lock | hot-long | warning/' tree/docs/doctor.md
expect_status 1 tree/docs/generate --check >stale.txt
expect_match "$(cat stale.txt)" 'docs/doctor.md: not what the product prints' 'a stale table'
