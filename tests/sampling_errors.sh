# The error beside each sampled figure of the call graph as JSON: what the program counted itself lies within it in 95 of 100 cases, of blocks
# and of bytes; of CPU time it is the binomial's, by the samples that sqlite3 counts; exact figures and foreign ones have none. The same in
# points of percent beside the shares of clear top and of the doctor; clear report prints what pprof does.
# build: plain
. "$(dirname "$0")/lib.sh"

recorded() { CLEAR=$PLAIN_CLEAR expect_status 0 profile -q "$@"; } # what is looked at is the reports
graph() { # graph FILE ARGUMENT...
    local out=$1
    shift
    "$CLEAR" top --json --db t.db "$@" >"$out" 2>err.txt || fail "clear top --json $*: $(cat err.txt)"
}

for seed in 1 2 3 4 5 6 7 8; do
    recorded -o t.profile --sample=20 -- "$FIXTURES/sampled" "$seed" 0 20 >"counts.$seed"
    graph "blocks.$seed" --sample_index=alloc_objects
    recorded -o t.profile --sample=16KiB -- "$FIXTURES/sampled" "$seed" 16384 0 >"bytes.counts.$seed"
    graph "bytes.$seed" --sample_index=alloc_space
done
# By size the recorder says how much the numbers of blocks vary, about what the law says of the program's blocks; every Nth needs no more than N, and
# says nothing of bytes.
for seed in 1 2 3 4 5 6 7 8; do
    awk '$1 == "variance" {sum += $3} END {print sum}' "bytes.counts.$seed"
done | awk '{sum += $1} END {print sum}' >law.txt
sql t.db "SELECT sum(value) FROM counters WHERE name = 'recorder.alloc_count_variance'" >got.txt
expect_between "$(paste law.txt got.txt | awk '{printf "%.0f", 100 * $2 / $1}')" 40 250 'per cent of the variance by the law'
expect_equal "$(sql t.db "SELECT count(*) FROM counters WHERE name = 'recorder.live_count_variance' AND value > 0")" 8 'runs that say how live blocks vary'
recorded -o t.profile --sample=20 -- "$FIXTURES/sampled" 1 >/dev/null
expect_match "$("$CLEAR" top --db t.db --kind heap 2>&1 >/dev/null)" '^clear: sampled; in 95 of 100 runs the truth is within: allocations [0-9.]+ %, live blocks [0-9.]+ %$' 'every 20th'
recorded -o t.profile --label exact -- "$FIXTURES/heap_counts" >/dev/null
graph exact.json --sample_index=alloc_space
recorded -o t.profile --label burn --cpu=997 -- "$FIXTURES/cpu_burn" threads 200 >/dev/null
graph cpu.json --kind cpu
"$CLEAR" top --db t.db --kind cpu >cpu.txt 2>/dev/null || fail "clear top"
"$CLEAR" doctor --db t.db --json --cumulative >doctor.json || fail "clear doctor --json"
"$CLEAR" doctor --db t.db --cumulative >doctor.txt || fail "clear doctor"
for plain in "top --margin=false" "report top" "top --mean"; do
    # shellcheck disable=SC2086
    "$CLEAR" ${plain%% *} --db t.db --kind cpu ${plain#* } >plain.txt 2>/dev/null || fail "clear $plain"
    grep -q ± plain.txt && fail "margins in clear $plain: $(cat plain.txt)"
done
"$CLEAR" top --db t.db --kind heap --sample_index=alloc_space exact >plain.txt 2>/dev/null || fail "top of exact figures"
grep -q ± plain.txt && fail "margins of exact figures: $(cat plain.txt)"
# Nor of a file that is only looked at, beside a warehouse whose first run is sampled.
"$CLEAR" export --db t.db --kind heap -o exact.pb.gz exact >/dev/null || fail "export of exact figures"
"$CLEAR" top --db t.db --sample_index=alloc_space exact.pb.gz >plain.txt 2>err.txt || fail "top of a file: $(cat err.txt)"
grep -qE '±|sampled' plain.txt err.txt && fail "margins of another run: $(cat plain.txt err.txt)"
"$CLEAR" export --db t.db --kind cpu -o cpu.pb.gz burn >/dev/null || fail "export of CPU time"
"$CLEAR" top --json cpu.pb.gz >foreign.json 2>/dev/null || fail "top of a file"
python3 - <<'END' || fail "the errors beside figures"
import json, math, sqlite3

def nodes(path): return {node["function"]: node for node in json.load(open(path))["nodes"] if "function" in node}
def truth(path, column): return {words[1]: int(words[column]) for words in map(str.split, open(path)) if words and words[0] == "heap"}

for what, counted, column in (("blocks", "counts", 2), ("bytes", "bytes.counts", 3)):
    cases, missed = 0, []
    for seed in range(1, 9):
        shown = nodes(f"{what}.{seed}")
        for site, exact in truth(f"{counted}.{seed}", column).items():
            node = shown.get(site)
            if not node: continue  # no block of it was seen
            cases += 1
            if abs(node["flat"] - exact) > node["flat_error"]: missed.append((seed, site, exact, node["flat"], node["flat_error"]))
            assert 0 < node["flat_error"] < 3 * node["flat"] and node["cum_error"] >= node["flat_error"], node
    assert cases >= 24, cases
    # Of so many cases 5 % are expected; four times as many come less than once in 10,000 runs.
    assert len(missed) <= 0.2 * cases + 1, (what, cases, missed)
assert not any("flat_error" in node for node in nodes("exact.json").values())
assert not any("flat_error" in node for node in nodes("foreign.json").values())
ticks, ns = sqlite3.connect("t.db").execute("SELECT sum(samples), sum(cpu_ns) FROM cpu JOIN profiles ON profiles.id = profile_id "
    "JOIN runs ON runs.id = run_id WHERE label = 'burn' AND kind = 'cpu'").fetchone()
# What the timers counted at one expiry is one sample; kernels expire them at ticks, so there are fewer than were asked for.
samples, = sqlite3.connect("t.db").execute("SELECT value FROM counters JOIN profiles ON profiles.id = profile_id JOIN runs ON runs.id = run_id "
    "WHERE label = 'burn' AND name = 'recorder.cpu_effective_samples'").fetchone()
assert 0 < samples <= ticks, (samples, ticks)
def error(share):
    """Of a share, with 1.92 samples more of the function and of the others; 0 of all."""
    seen, more = share * samples, 1.959964 ** 2 / 2
    return 1.959964 * math.sqrt((seen + more) * (samples - seen + more) / (samples + 2 * more) ** 3) if share < 1 else 0
shown = nodes("cpu.json")
assert shown
for node in shown.values():
    share = node["flat"] / ns
    expected = ns * error(share)
    assert abs(node["flat_error"] - expected) <= 1 + expected / 1e6, (node, expected)

def points(share): return 100 * error(share)
def agree(margin, share): return abs(float(margin.strip("±%")) - points(share)) <= (0.51 if "." not in margin else 0.06)

rows = open("cpu.txt").read().split("cum%\n")[1].splitlines()
assert "±95%" in open("cpu.txt").read() and rows
for row in rows:
    flat, percent, margin, sum_percent, cum, cum_percent, name = row.split(None, 6) if "±" in row else (*row.split(None, 2)[:2], "", "", "", "", "")
    if margin: assert agree(margin, shown[name.removesuffix(" (inline)").removesuffix(" (partial-inline)")]["flat"] / ns), (row, samples)
    else: assert flat == "0", row
judged = [row for row in json.load(open("doctor.json")) if row["section"] == "function" and row["kind"] == "cpu"]
assert judged
for row in judged:
    for figure in ("flat", "cum"):
        expected = points(row[figure] / ns) * ns / 100
        assert abs(row[figure + "_error"] - expected) <= 1 + expected / 1e6, (row, expected)
table = open("doctor.txt").read().split("cpu by function")[1].split("\n\n")[0].splitlines()
assert table[1].count("± 95 %") == 2 and any("±" in line for line in table[3:]), table
END
