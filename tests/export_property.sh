# 200 generated queries: each is exported, read by go tool pprof -raw, and the sums of the samples are those that SQLite gives for
# the query itself. The generator is seeded; SEED=N tries others. $CLEAR and $PLAIN_CLEAR export every third, and give the same bytes; the
# others are exported by $PLAIN_CLEAR.
# timeout: 300
# build: plain
. "$(dirname "$0")/lib.sh"

cat "$ROOT/schema/tables.sql" "$ROOT/tests/export_data.sql" | sqlite3 t.db || fail "no database"
"$CLEAR" runs --db t.db >/dev/null || fail "clear runs" # brings the views up to date
HOME=$TMP PPROF_TMPDIR=$TMP/pprof PPROF_BINARY_PATH=$TMP/none python3 - "$CLEAR" "$PLAIN_CLEAR" "$(go env GOTOOLDIR)/pprof" <<'END' || fail "see above"
import concurrent.futures, math, os, random, re, sqlite3, subprocess, sys

clear, plain, pprof = sys.argv[1:4]
if not os.path.exists(pprof): # newer Go builds it on demand
    pprof = None
source = random.Random(int(os.environ.get("SEED", "20240501")))

SOURCES = {  # FROM clause: stack columns, texts, numbers
    "sites": (["trace_id", "trace_id % 3 AS trace_id"], ["'site'"], ["alloc_count", "alloc_bytes", "alloc_bytes / 3.0", "-free_bytes", "NULL"]),
    "sites JOIN traces ON traces.id = trace_id": (["trace_id", "NULL AS trace_id"], ["signature || ''"], ["line", "free_count", "alloc_bytes * 1.5"]),
    "heap": (["trace_id"], ["function", "file", "module", "nullif(function, 'main')"], ["inuse_bytes", "alloc_count", "line * 0.5"]),
    "stacks JOIN sites USING (trace_id)": (["stack", "stack || ';leaf' AS stack"], ["'x'", "''"], ["alloc_bytes", "length(stacks.stack)"]),
    "frames": (["trace_id", None], ["function", "file"], ["line", "depth", "1"]),
    "locks": (["trace_id", None], ["kind"], ["acquires", "wait_ns", "hold_ns / 7.0"]),
    "json_each('[1,2.5,-3,null,4]')": ([None], ["type", "'t' || key"], ["value", "key", "value * 1e6"]),
    "(SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY 1)": ([None], ["name"], ["size", "size / 4096"]),
}
ALIASES = ["{}_bytes", "{}_ns", "{}/count", "{}_space/bytes", "{} of it", "total({})", "{}delay"]

def query():
    table = source.choice(list(SOURCES))
    stacks, texts, numbers = SOURCES[table]
    columns, values = [], []
    stack = source.choice(stacks)
    if stack:
        columns.append(stack)
    for i in range(source.randrange(3)):
        columns.insert(source.randrange(len(columns) + 1), f"{source.choice(texts)} AS text_{i}")
    for i in range(source.randrange(2)):
        columns.append(f"{source.choice(texts)} AS \"label:key {i}\"")
    if source.random() < 0.3:
        columns.append(f"{source.choice(['1', '2 + 3', 'NULL'])} AS \"label:number/bytes\"")
    for i in range(source.randrange(4) if columns else 1 + source.randrange(3)):
        alias = source.choice(ALIASES).format(f"v{i}")
        values.append(alias)
        columns.append(f"{source.choice(numbers)} AS \"{alias}\"")
    sql = "SELECT " + ", ".join(columns) + " FROM " + table
    if source.random() < 0.3:
        sql += f" LIMIT {source.randrange(8)}"
    return sql, values

def wanted(db, sql, values):
    """The query's own sums, from Python's sqlite3: NULL 0, reals rounded away from zero, no value at all: the rows. A column
    whose name says nothing is a frame where its first value that is not NULL is text; here such values are all numbers."""
    cursor = db.execute(sql)
    names = [column[0] for column in cursor.description]
    rows = cursor.fetchall()
    places = [names.index(value) for value in values]
    # `line` and other numbers under a bare name do not occur: every value has an alias of ours.
    texts = [i for i, name in enumerate(names) if name.startswith("text_")]
    for i in texts:  # all NULL: nothing told that it is text, so it is a value
        if all(row[i] is None for row in rows):
            places.append(i)
    places.sort()
    rounded = lambda x: 0 if x is None else int(math.copysign(math.floor(abs(x) + 0.5), x)) if isinstance(x, float) else x
    return [sum(rounded(row[i]) for row in rows) for i in places] if places else [len(rows)]

def read(path):
    command = [pprof] if pprof else ["go", "tool", "pprof"]
    text = subprocess.run(command + ["-symbolize=none", "-raw", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True).stdout
    lines = text.split("\nSamples:\n")[1].split("\nLocations\n")[0].split("\n")
    sums = [0] * len(re.findall(r"\S+/\S+?(?=\[dflt\]|\s|$)|\S+(?= of it)", lines[0]) or [0])
    count = 0
    for line in lines[1:]:
        match = re.match(r"\s*((?:-?\d+\s*)+):", line)
        if match:
            figures = [int(figure) for figure in match.group(1).split()]
            sums = [a + b for a, b in zip(sums + [0] * (len(figures) - len(sums)), figures)] if count else figures
            count += 1
    return sums, count

def check(number, sql, values):
    path, is_third = f"{number}.pb.gz", number % 3 == 0
    done = subprocess.run([clear if is_third else plain, "export", "--db", "t.db", "--sql", sql, "-o", path], stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return f"{sql}\n    status {done.returncode}: {done.stderr}"
    with sqlite3.connect("file:t.db?mode=ro", uri=True) as db:
        want = wanted(db, sql, values)
    got, count = read(path)
    if is_third:
        again = subprocess.run([plain, "export", "--db", "t.db", "--sql", sql, "-o", "-"], stdout=subprocess.PIPE, check=True).stdout
        with open(path, "rb") as file:
            if file.read() != again:
                return f"{sql}\n    other bytes the second time"
    os.unlink(path)
    if count == 0:
        return None if not any(want) else f"{sql}\n    no sample, but {want}"
    return None if got == want else f"{sql}\n    pprof reads {got}, the query gives {want}"

queries = [query() for _ in range(200)]
assert len({sql for sql, _ in queries}) > 150, "the generator repeats itself"
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    wrong = [text for text in pool.map(lambda item: check(item[0], *item[1]), enumerate(queries)) if text]
print("\n".join(wrong[:10]))
sys.exit(f"{len(wrong)} of {len(queries)} queries came out wrong" if wrong else 0)
END
