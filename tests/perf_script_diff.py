"""perf_script_diff.py SCRIPT DB RUN [EVENT]: is every sample of `perf script` in the warehouse, with its full chain?

OTHER_FILES in the environment: paths, each ended by a colon, that are other files here than where it was recorded.
SCRIPT is what `perf script -F comm,tid,time,event,ip,sym,symoff,dso` (or without -F) says of the recording that is run
RUN of DB. Chains are compared as multisets of (file, address) lists with their thread's name; then the names, frame by
frame: the demangled one that people read, and the linker's. Prints what differs and exits with 1. With --show-mmap-events it
is known where each file was mapped, from which the addresses count that perf prints as they are in the process, and where each
kernel module starts. What `perf script` says otherwise by its own rules is put
right here:

- It prints return addresses of chains by frame pointers (the warehouse has the call, one less), but calls of chains by
  DWARF. A name that it found for a return address at offset 0 is that of the *next* function: not compared.
- Its [unknown] with a file is a function without a symbol; the warehouse names those FILE+0x....
- Its libunwind ends some stacks with a frame at -1.
- It throws a whole chain away where a frame pointer that was none led to a word that is no address.
- It stretches a symbol over nameless code behind it, and takes variables for functions; not compared where readelf
  finds no function around the address.
- Since 6.12 it forgets the name of a thread that has ended, in samples after its end: any name is as right there.
- It may choose another of several names of one function: what readelf finds at the function's start is as right.
"""
import collections, functools, glob, gzip, json, os, re, sqlite3, subprocess, sys

FRAME = re.compile(r"^\s+([0-9a-f]+) (.*?) \(((?:/|\[).*)\)$")
MODULE = re.compile(r"PERF_RECORD_MMAP -1/0: \[(0x[0-9a-f]+)\(.*\]: x (/.*\.ko)$")
MAPPED = re.compile(r"PERF_RECORD_MMAP2? (-1|\d+)/\d+: \[(0x[0-9a-f]+)\((0x[0-9a-f]+)\) @ (0x[0-9a-f]+|0)[ \]].*?: \S+ (.*)$")
HEAD = re.compile(r"^\s*(\S.*?)\s+(-?\d+)(?:/\d+)?\s+(?:\[\d+\]\s+)?([\d.]+):\s+(?:\d+\s+)?(\S+):(?:\s+(.*))?$")


modules = {} # path and [name], as perf prints either -> path and address, once script_samples() has met the event


def parse_frame(frame):
    symbol, _, offset = frame[2].rpartition("+0x")
    if not symbol:
        symbol, offset = frame[2], "-1"
    return int(frame[1], 16), symbol, int(offset, 16), frame[3]


def in_file(frame, maps):
    """Where perf prints the address in the process: in a sample without a chain, which is one line, and since 6.12 in chains."""
    for start, size, offset in reversed(maps[frame[3]]):
        if start <= frame[0] < start + size and frame[0] < 2**63:
            return (frame[0] - start + offset, *frame[1:])
    return frame


def script_samples(path):
    """Yields (comm, event, [(address, symbol, offset, file), ...])."""
    sample, maps = None, collections.defaultdict(list) # by the name of the file
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path, errors="replace")) as lines:
        for line in lines:
            line = line.rstrip("\n")
            frame = FRAME.match(line)
            if frame and sample:
                sample[2].append(in_file(parse_frame(frame), maps))
            elif line.strip():
                if sample:
                    yield sample
                module = MODULE.search(line)
                if module:
                    name = "[" + os.path.basename(module[2])[:-3].replace("-", "_") + "]"
                    modules[name] = modules[module[2]] = module[2], int(module[1], 16)
                mapped = MAPPED.search(line)
                if mapped:
                    if mapped[1] != "-1": # not the kernel
                        maps[mapped[5]].append((int(mapped[2], 16), int(mapped[3], 16), int(mapped[4], 16)))
                    sample = None
                    continue
                head = HEAD.match(line)
                if not head:
                    sys.exit(f"{path}: not understood: {line!r}")
                comm = re.sub(r"^:-?\d+$", "", head[1].strip()) # a thread without a name; -1 has ended already
                sample = (comm, head[4], [])
                if head[5]:
                    sample[2].append(in_file(parse_frame(FRAME.match(" " + head[5])), maps))
    if sample:
        yield sample


def calls(frames, is_dwarf, kernel_start):
    """perf's chain as the warehouse should have it."""
    if frames and frames[-1][0] == 2**64 - 1:
        frames = frames[:-1]
    out = []
    for i, (address, symbol, offset, file) in enumerate(frames):
        in_kernel = address >= 2**63 and file != "[unknown]" or file == "[kernel.kallsyms]"
        first = i == 0 or (out[-1][3] and not in_kernel)
        exact = first or (is_dwarf and not in_kernel)
        known = symbol if symbol != "[unknown]" and (exact or offset > 0) else None
        if file != "[unknown]" and not exact and address:
            address -= 1
        if file.startswith("/tmp/perf-"): # code of a JIT compiler
            file, known = "//anon", None
        if not in_kernel:
            address = to_address(file, address)
        start = address + (not exact) - offset if known else None
        if in_kernel:
            file, its_start = modules.get(file, (file, kernel_start))
            address -= its_start
        out.append((os.path.basename(file), address, known, in_kernel, file, start))
    return out


def stored_traces(db, run, event):
    """Yields (comm, samples, [(file, address, name, linker's name), ...])."""
    frames = {}
    for location, file, address, name, symbol in db.execute(
            """SELECT l.id, m.filename, l.address, f.name, f.system_name
               FROM locations l JOIN mappings m ON m.id = l.mapping_id
               JOIN location_lines n ON n.location_id = l.id
                AND n.position = (SELECT max(position) FROM location_lines WHERE location_id = l.id)
               JOIN functions f ON f.id = n.function_id"""):
        frames[location] = (os.path.basename(file) or "[unknown]", address & (2**64 - 1), name, symbol)
    rows = db.execute(
        """SELECT c.samples, t.stack, s.labels FROM profiles p
           JOIN (SELECT profile_id, trace_id, label_set_id, samples FROM cpu
                 UNION ALL SELECT profile_id, trace_id, label_set_id, v0 FROM samples) c ON c.profile_id = p.id
           JOIN traces t ON t.id = c.trace_id JOIN label_sets s ON s.id = c.label_set_id
           WHERE p.run_id = ? AND (? IS NULL OR p.comments LIKE '%"perf event ' || ? || '"%')""", (run, event, event))
    for samples, stack, labels in rows:
        comm = dict(label[:2] for label in json.loads(labels)).get("thread", "")
        yield comm, samples, [frames[i] for i in json.loads(stack)]


def plain(symbol):
    """Without what linkers and compilers add: version, linkage table, copy, Go's calling convention; the vdso's first names."""
    symbol = symbol.removeprefix("__vdso_")
    return re.sub(r"@.*| \[clone .*|\.(constprop|isra|part|cold|abi0|abiinternal)\b.*", "", symbol)


def without_parameters(symbol):
    """Since 6.12 perf prints those of C++: take(long const&)."""
    depth = 0
    for at in range(len(symbol) - 1 if symbol.endswith(")") else -1, -1, -1):
        depth += {")": 1, "(": -1}.get(symbol[at], 0)
        if depth == 0:
            return symbol[:at] or symbol
    return symbol


@functools.lru_cache(None)
def demangled(symbol):
    """As perf script prints it: C++ without parameters, by binutils."""
    if not symbol.startswith("_Z"):
        return symbol
    return subprocess.run(["c++filt", "--no-params", symbol], capture_output=True, text=True).stdout.strip()


@functools.lru_cache
def segments(path):
    """Offset, address and size of what is mapped as code."""
    if not os.path.isfile(path):
        return []
    lines = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout.splitlines()
    fields = [line.split() for line in lines if line.split()[:1] == ["LOAD"] and " E 0x" in line.replace("R E", " E")]
    return [(int(f[1], 16), int(f[2], 16), int(f[4], 16)) for f in fields]


def to_address(path, offset):
    for start, address, size in segments(path):
        page = start & ~0xfff
        if page <= offset < start + size:
            return offset - start + address
    return offset


@functools.lru_cache
def symbol_lines(path):
    """Address, size and name of the functions of a file and of its separate debug file."""
    if not os.path.isfile(path):
        return []
    notes = subprocess.run(["readelf", "-n", path], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]{2})([0-9a-f]+)", notes)
    debug = glob.glob(f"/usr/lib/debug/.build-id/{build_id[1]}/{build_id[2]}.debug") if build_id else []
    found = []
    for file in [path] + debug:
        for line in subprocess.run(["readelf", "-Ws", file], capture_output=True, text=True).stdout.splitlines():
            field = line.split()
            if len(field) >= 8 and field[0].endswith(":") and field[3] in ("FUNC", "IFUNC"):
                found.append((int(field[1], 16), int(field[2], 0), plain(field[7])))
    return found


@functools.lru_cache
def symbol_sizes(path):
    sizes = {}
    for address, size, _ in symbol_lines(path):
        sizes[address] = max(size, sizes.get(address, 0))
    return sizes


@functools.lru_cache
def symbol_table(path):
    """Names by address."""
    table = collections.defaultdict(set)
    if path == "[kernel.kallsyms]":
        with open("/proc/kallsyms") as lines:
            for line in lines:
                field = line.split()
                table[int(field[0], 16)].add(plain(field[2]))
    for address, _, name in symbol_lines(path):
        table[address].add(name)
    return table


def reaches(path, start, address):
    return not os.path.isfile(path) or address < start + symbol_sizes(path).get(start, 0)


def aliases(path, start):
    return symbol_table(path).get(start, set()) if start is not None else set()


def name_forgotten(wanted, got):
    """Gives samples without a name the name that is left over for the same chain in the warehouse."""
    for key in [key for key in wanted if not key[0] and wanted[key] > got[key]]:
        for named in [other for other in got if other[1] == key[1] and got[other] > wanted[other]]:
            moved = min(wanted[key] - got[key], got[named] - wanted[named])
            wanted[key] -= moved
            wanted[named] += moved


def main():
    script, path, run = sys.argv[1:4]
    event = sys.argv[4] if len(sys.argv) > 4 else None
    is_dwarf = os.environ.get("DWARF") == "1"
    kernel_start = int(os.environ.get("KERNEL_START") or "0", 16)
    others = os.environ.get("OTHER_FILES", "").split(":")
    got, stored_names = collections.Counter(), {}
    for comm, samples, frames in stored_traces(sqlite3.connect(path), run, event):
        got[comm, tuple(f[:2] for f in frames)] += samples
        for file, address, name, symbol in frames:
            stored_names[file, address] = plain(name), plain(symbol)
    total, thrown_away = 0, collections.Counter()
    wanted, names = collections.Counter(), collections.defaultdict(set)
    for comm, name, frames in script_samples(script):
        if event and name != event:
            continue
        chain = calls(frames, is_dwarf, kernel_start)
        total += 1
        if not chain:
            thrown_away[comm] += 1
            continue
        wanted[comm, tuple(f[:2] for f in chain)] += 1
        for file, address, symbol, _, path_name, start in chain:
            if path_name.startswith("/") and (not os.path.isfile(path_name) or path_name in others):
                continue # a program that another test made, and removed since (-a); a library that is another one here
            if symbol and plain(symbol) and (symbol.endswith("@plt") or reaches(path_name, start, address)):
                stored = stored_names.get((file, address), ("", ""))[0]
                if symbol.endswith("@plt") and stored.startswith(file + "+0x"): # names that perf alone works out
                    names[file, address].add(stored)
                names[file, address] |= {plain(symbol), without_parameters(plain(symbol))} | {demangled(alias) for alias in aliases(path_name, start)}
    name_forgotten(wanted, got)
    wrong = [f"perf script has {n - got[k]} more of {show(k)}" for k, n in wanted.items() if n > got[k]]
    for key in got:
        spared = min(thrown_away[key[0]], max(0, got[key] - wanted[key]))
        thrown_away[key[0]] -= spared
        got[key] -= spared
    wrong += [f"the warehouse lacks {n} samples of {comm}" for comm, n in thrown_away.items() if n]
    wrong += [f"the warehouse has {n - wanted[k]} more of {show(k)}" for k, n in got.items() if n > wanted[k]]
    other = []
    for place in names.keys() & stored_names.keys():
        name, symbol = stored_names[place]
        if name not in names[place] or demangled(symbol) not in names[place]:
            other.append(f"{place[0]}+{place[1]:x}: {name}, {symbol} for the linker, instead of {'/'.join(sorted(names[place]))}")
    print(f"{total} samples, {len(wanted)} stacks, {len(names)} named places; "
          f"{len(wrong)} stacks and {len(other)} names differ")
    for line in wrong[:10] + other[:10]:
        print("  " + line[:1000])
    sys.exit(not wanted or bool(wrong or other))


def show(key):
    return key[0] + ": " + " ".join(f"{f}+{a:x}" for f, a in key[1])


main()
