# docs/columns.md has every table, view and column that a warehouse has, in its order; and the comments it is made of are complete.
# (tests/docs.sh compares the page with what the generator prints.)
# quick
. "$(dirname "$0")/lib.sh"

"$CLEAR" ingest --quiet --db new.sqlite "$ROOT/fixtures/corpus/folded/app.folded" || fail "no warehouse"
generate() { # generate TREE [OPTION...]
    local tree=$1
    shift
    (cd "$tree" && awk "$@" -f schema/document-columns.awk schema/tables.sql schema/facts/*.sql schema/views/*.sql schema/doctor/*.sql)
}

# SQLite says what there is.
sql new.sqlite "SELECT entry.name, field.name FROM sqlite_schema AS entry JOIN pragma_table_info(entry.name) AS field
    WHERE entry.type IN ('table', 'view') AND entry.name NOT GLOB 'sqlite_*' ORDER BY entry.name, field.cid" >have.txt
[ "$(wc -l <have.txt)" -gt 500 ] || fail "only $(wc -l <have.txt) columns"
generate "$ROOT" -v list=1 >listed.txt || fail "the generator fails"
cut -d'|' -f1,2 listed.txt | LC_ALL=C sort -s -t'|' -k1,1 >documented.txt
diff have.txt documented.txt >diff.txt || fail "columns of a warehouse (<) and documented ones (>): $(head -20 diff.txt)"
for object in $(cut -d'|' -f1 have.txt | uniq); do
    grep -qx "### $object" "$ROOT/docs/columns.md" || fail "docs/columns.md has no heading $object"
done

# What is missing is seen.
mkdir tree && cp -r "$ROOT/schema" tree/ || fail "no copy"
spoiled() { # spoiled FILE SED-SCRIPT REGEX
    cp "tree/$1" kept.sql && sed -i "$2" "tree/$1"
    cmp -s kept.sql "tree/$1" && fail "sed -i '$2' $1 changed nothing"
    generate tree >out.md 2>err.txt && fail "not seen: $2 in $1"
    expect_match "$(cat err.txt)" "$3" "what is wrong after $2"
    mv kept.sql "tree/$1"
}
spoiled schema/tables.sql 's/ -- \[number\] process id$//' 'tables.sql:[0-9]+: column pid of processes has no comment'
spoiled schema/tables.sql 's/\[ns\] sum of their waits/[nanos] sum of their waits/' '.nanos. is not a unit'
spoiled schema/tables.sql '/-- One tag of a run/d' 'table tags does not say what a row is'
spoiled schema/views/heap.sql '/^-- Question/d' 'view heap has no .Question:'
spoiled schema/doctor/lock_ok.sql '/^-- Thresholds/d' 'doctor_lock_ok has no .Thresholds:'
spoiled schema/doctor/lock.sql '/^-- Known false/d' 'doctor_lock has no .Known false positives:'

# Thresholds in the headers of the diagnoses, "name (figure)", are those of the table rules.
sql new.sqlite "SELECT name, value FROM rules" >rules.txt
cat "$ROOT"/schema/doctor/*.sql "$ROOT"/schema/views/*.sql | sed -n 's/^--//p' | tr '\n' ' ' | tr -s ' ' |
    grep -oE '[a-z_]+_[a-z]+ \([0-9][^)]*\)' | LC_ALL=C sort -u >figures.txt
[ "$(wc -l <figures.txt)" -gt 40 ] || fail "only $(wc -l <figures.txt) thresholds are in the headers"
python3 - <<'EOF' || fail "a header and the table rules differ"
import re, sys
units = {"": 1, "ns": 1, "%": 1, "B": 1, "KiB": 1024, "MiB": 1 << 20, "MB": 10**6, "GB": 10**9, "ms": 1, "million": 10**6}
rules = dict(line.rstrip("\n").split("|") for line in open("rules.txt"))
wrong = 0
for line in open("figures.txt"):
    name, figure, unit = re.fullmatch(r"(\w+) \(([\d.,]+) ?(\S*)\)\n", line).groups()
    value = float(figure.replace(",", "")) * (10**6 if unit == "ms" and name.endswith("_ns") else units[unit])
    if float(rules.get(name, "nan")) != value:
        print(f"{line.strip()}: the table rules has {rules.get(name)}", file=sys.stderr)
        wrong = 1
sys.exit(wrong)
EOF
