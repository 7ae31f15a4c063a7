# Functions of Python scripts in call stacks: a script that knows what it allocates, reads and waits for, in all the ways that functions call each other; another that
# tracemalloc knows; one that burns CPU time;
# versions that are not known; and an interpreter whose objects are broken in every way, which must not notice.
# build: plain
. "$(dirname "$0")/lib.sh"
export CLEAR_DB=t.db

frames="SELECT traces.id AS trace_id, group_concat(functions.name || ':' || location_lines.line, ' ') AS frames FROM traces, json_each(traces.stack) AS place
        JOIN location_lines ON location_lines.location_id = place.value JOIN functions ON functions.id = location_lines.function_id GROUP BY traces.id"
# places FILE: the innermost function of that file and its line, with blocks of 5,000 bytes and more
places() {
    sql t.db "WITH own AS (SELECT traces.id AS trace_id, min(place.key) AS leaf, traces.stack FROM traces, json_each(traces.stack) AS place
                  JOIN location_lines ON location_lines.location_id = place.value JOIN functions ON functions.id = location_lines.function_id
                  WHERE functions.filename GLOB '*$1' OR functions.filename = '<string>' GROUP BY traces.id)
              SELECT functions.name, location_lines.line, sum(heap.alloc_count), sum(heap.alloc_bytes) / sum(heap.alloc_count) FROM heap JOIN own USING (trace_id)
              JOIN location_lines ON location_lines.location_id = own.stack ->> ('\$[' || own.leaf || ']') JOIN functions ON functions.id = location_lines.function_id
              WHERE heap.run_id = (SELECT max(id) FROM runs) AND heap.alloc_bytes / heap.alloc_count >= 5000 AND functions.name NOT IN ('<module>', 'made')
              GROUP BY 1, 2 ORDER BY 1, 2"
}

# An interpreter that is none: what is sound is found, and what is broken breaks nothing.
"$FIXTURES/fake_python" >want_fake.txt || fail 'fake_python alone'
expect_status 0 profile -q -o none.profile -F 999 "$FIXTURES/fake_python" >got.txt
expect_same_file got.txt want_fake.txt 'the output of fake_python'
expect_equal "$(sql t.db "SELECT alloc_count, alloc_bytes, substr(frames, instr(frames, 'Class'), 27) FROM heap JOIN ($frames) USING (trace_id) WHERE frames GLOB 'allocate_known*'")" \
    '7|5439|Class.inner:22 outer:10 mai' 'the functions of fake_python'
check_db t.db
for version in 0x30a 0x30e 0x400; do
    expect_status 0 profile -o none.profile "$FIXTURES/fake_python" $version >got.txt 2>err.txt
    expect_same_file got.txt want_fake.txt "the output of version $version"
    expect_equal "$(grep -c '^clear: no functions of scripts in call stacks: this Python is ' err.txt)" 1 "a word of version $version: $(cat err.txt)"
    expect_equal "$(sql t.db "SELECT count(*) FROM heap JOIN ($frames) USING (trace_id) WHERE run_id = (SELECT max(id) FROM runs) AND frames GLOB '*Class.inner*'")" 0 "functions of version $version"
done

# A filter of system calls that was there before answers for the kernel: then nothing says what may be read, and nothing is.
"$FIXTURES/filtered" "$FIXTURES/fake_python" >got.txt || fail 'fake_python alone under a filter'
expect_same_file got.txt want_fake.txt 'the output under a filter'
expect_status 0 profile -o none.profile "$FIXTURES/filtered" "$FIXTURES/fake_python" >got.txt 2>err.txt
expect_same_file got.txt want_fake.txt 'the output of fake_python under a filter'
expect_match "$(cat err.txt)" 'this Python is 3\.11, but .* a filter of system calls \(seccomp\)' 'a word of the filter'

cat >counts.py <<'PY'
import asyncio, ctypes, os, threading
def blocks(count):
    return [bytearray(5000) for _ in range(count)]
def recurse(depth):
    if depth == 0:
        return bytearray(7000)
    return recurse(depth - 1)
class Thing:
    def __lt__(self, other):
        bytearray(9000)
        return True
def by_key(x):
    return len(bytearray(8000))
def generate(count):
    for i in range(count):
        yield bytearray(6000)
async def coroutine(count):
    for i in range(count):
        bytearray(10000)
        await asyncio.sleep(0)
def catch():
    try:
        raise ValueError
    except ValueError:
        bytearray(11000)
@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def compare(a, b):
    bytearray(12000)
    calls.append(1)
    return a[0] - b[0]
def in_thread():
    for _ in range(50):
        bytearray(13000)
def made():
    for i in range(50):
        space = {}
        exec(f"def made_{i % 5}():\n" + "\n" * (i % 2) + "    return bytearray(14000)\n", space)
        space[f"made_{i % 5}"]()
def read_zeros():
    for _ in range(60):
        os.read(zeros, 3)
def take(lock):
    lock.acquire(timeout=0.05)
def in_child():
    for _ in range(77):
        bytearray(15000)
class Tèst:
    def größe(self):
        return bytearray(16000)

calls, zeros = [], os.open("/dev/zero", os.O_RDONLY)
kept = blocks(300)
for _ in range(100):
    recurse(20)
sorted([Thing() for _ in range(64)])
sorted(range(100), key=by_key)
sum(map(len, generate(100)))
asyncio.run(coroutine(100))
for _ in range(100):
    catch()
ctypes.CDLL(None).qsort((ctypes.c_int * 20)(*range(20, 0, -1)), 20, 4, compare)
threads = [threading.Thread(target=in_thread) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
made()
read_zeros()
for _ in range(9):
    Tèst().größe()
lock = threading.Lock()
with lock:
    waiter = threading.Thread(target=take, args=(lock,))
    waiter.start()
    waiter.join()
child = os.fork()
if child == 0:
    in_child()
    os._exit(0)
os.waitpid(child, 0)
print(len(calls))
PY
# What tracemalloc knows too: the blocks that live, by the line that made them.
cat >traced.py <<'PY'
import functools, itertools, random, sys, tracemalloc
chance, free = random.Random(31), itertools.count()
def plain(size):
    kept[next(free)] = bytearray(size)
def immutable(size):
    kept[next(free)] = bytes(size)
def deep(size):
    if chance.random() < 0.8:
        return deep(size)
    kept[next(free)] = bytearray(size)
def two(size):
    kept[next(free)], kept[next(free)] = bytearray(size), bytes(size)
    kept[next(free)] = bytearray(size)
class Maker:
    def __init__(self, size):
        self.text = "x" * size
    def __call__(self, size):
        kept[next(free)] = Maker(size)
def lazy(size):
    yield bytearray(size)
def take(size):
    for block in lazy(size):
        kept[next(free)] = block
apply = functools.partial(map, lambda size:
    kept.__setitem__(next(free), bytearray(size)))
ways = [plain, immutable, deep, two, Maker(10), take, lambda size: list(apply([size]))]
kept = [None] * 6000 # which needs no more room
tracemalloc.start(1) if sys.argv[1:] else None
for _ in range(2000):
    chance.choice(ways)(chance.randrange(5000, 50000))
if sys.argv[1:]:
    lines = {}
    for trace in tracemalloc.take_snapshot().traces:
        if trace.size >= 5000 and trace.traceback[0].filename == __file__:
            lines.setdefault(trace.traceback[0].lineno, []).append(trace.size)
    for line, found in lines.items():
        print(line, len(found), sum(found) // len(found), sep="|")
PY
# All CPU time is in `burn`, but for the interpreter's start and end.
cat >burns.py <<'PY'
import time
def burn(until):
    count = 0
    while time.process_time() < until:
        for i in range(1000):
            count += i * i
    return count
def outer():
    return burn(time.process_time() + 0.3)
outer()
PY
cat >nameless.py <<'PY'
def f():
    return bytearray(6000)
f.__code__ = f.__code__.replace(co_name="", co_qualname="", co_filename="", co_linetable=b"")
for _ in range(9):
    f()
PY
cat >daemons.py <<'PY'
import os, threading, time
zeros = os.open("/dev/zero", os.O_RDONLY)
def compute(depth):
    return compute(depth - 1) if depth else [bytearray(700) for _ in range(20)]
def spin():
    while True:
        compute(30)
def nap():
    while True:
        time.sleep(0.0005)
        os.read(zeros, 10)
for body in (spin, nap, nap):
    threading.Thread(target=body, daemon=True).start()
time.sleep(0.05)
print("done")
PY
known=0 checked=0
for python in ${PYTHONS:-/usr/bin/python3}; do
    "$python" -c 'import sys; sys.exit(not ((3, 11) <= sys.version_info < (3, 14) and sys.implementation.name == "cpython"))' || continue
    known=$((known + 1))
    calls=$("$python" -W ignore counts.py) || fail "$python alone"
    expect_equal "$(PYTHONUTF8=1 "$CLEAR" profile -q -o none.profile "$python" -W ignore counts.py)" "$calls" "the output of $python"
    places counts.py >places.txt
    comprehension=$(grep -c 'blocks.<locals>.<listcomp>' places.txt) # 3.12 has comprehensions in the functions around them
    cat >want.txt <<END
Thing.__lt__|10|63|9001
Tèst.größe|49|9|16001
$([ "$comprehension" = 1 ] && echo 'blocks.<locals>.<listcomp>|3|300|5001' || echo 'blocks|3|300|5001')
by_key|13|100|8001
catch|25|100|11001
compare|28|$calls|12001
coroutine|19|100|10001
generate|16|100|6001
in_child|46|77|15001
in_thread|33|200|13001
$(for name in 0 1 2 3 4; do echo "made_$name|2|5|14001"; echo "made_$name|3|5|14001"; done)
recurse|6|100|7001
END
    expect_same_file places.txt want.txt "what the functions allocate in $python"
    expect_equal "$(sql t.db "SELECT sum(calls), sum(bytes) FROM io_use JOIN ($frames) USING (trace_id) WHERE run_id = (SELECT max(id) FROM runs) AND frames GLOB '*read_zeros:*'")" '60|180' \
        "what the functions read in $python"
    expect_match "$(sql t.db "SELECT frames FROM wait_use JOIN ($frames) USING (trace_id)")" 'take:43' "who waits in $python"
    # Who allocates at once in 21 functions has all of them, and none of the interpreter's between.
    expect_match "$(sql t.db "SELECT frames FROM heap JOIN ($frames) USING (trace_id) WHERE run_id = (SELECT max(id) FROM runs) AND frames GLOB '*recurse:6*'")" \
        '(^| )recurse:6( recurse:7){20} <module>:54 ' "recursion in $python"
    # A block belongs to the script's line, and not to what the interpreter does for it.
    expect_equal "$(sql t.db "SELECT DISTINCT places.function || ':' || places.line FROM heap JOIN ($frames) AS stacks USING (trace_id) JOIN places USING (trace_id)
                              WHERE run_id = (SELECT max(id) FROM runs) AND frames GLOB '*Tèst.größe:*' AND alloc_bytes / alloc_count > 10000")" 'Tèst.größe:49' "whose blocks they are in $python"
    "$python" traced.py tracemalloc | sort >want.txt || fail "tracemalloc in $python"
    expect_status 0 profile -q -o none.profile "$python" traced.py
    places traced.py | cut -d'|' -f2- | sort >places.txt
    expect_same_file places.txt want.txt "what tracemalloc counts in $python"
    expect_equal "$(wc -l <want.txt)" 8 'lines that make blocks'
    # Where a sample is in the function, its callers are those that called it.
    expect_status 0 profile -q -o none.profile -F 999 "$python" burns.py
    expect_equal "$(sql t.db "SELECT DISTINCT frames GLOB '*burn:[3-7] outer:9 <module>:10 *' FROM cpu JOIN profiles ON profiles.id = cpu.profile_id JOIN ($frames) USING (trace_id)
                              WHERE run_id = (SELECT max(id) FROM runs) AND frames GLOB '*burn:*'")" 1 "who burns CPU time in $python"
    # The script's line has the interpreter's CPU time. (What ran before the script has another.)
    expect_equal "$(sql t.db "SELECT sum(own_file GLOB '*burns.py') > 0 FROM library_facts WHERE run_id = (SELECT max(id) FROM runs)")" 1 "whose CPU time the interpreter's is in $python"
    # Code without a name, a file and lines.
    expect_status 0 profile -o none.profile "$python" nameless.py 2>err.txt
    expect_equal "$(grep -c damaged err.txt)" 0 "code without texts in $python"
    expect_equal "$(sql t.db "SELECT alloc_count FROM heap JOIN ($frames) USING (trace_id) WHERE run_id = (SELECT max(id) FROM runs) AND frames GLOB '* [?]:1 <module>:5 *'")" 9 "code without texts in $python"
    # A thread that computes or waits when the interpreter ends.
    for round in 1 2 3; do
        expect_equal "$("$CLEAR" profile -q -o none.profile -F 1999 "$python" daemons.py)" 'done' "daemon threads in $python, round $round"
    done
    check_db t.db
    checked=$((checked + 1))
done
[ $known != 0 ] || echo 'this python3 is of another version than 3.11 to 3.13'
expect_equal $checked $known 'known python3 whose checks came to their end'
