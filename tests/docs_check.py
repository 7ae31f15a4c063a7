#!/usr/bin/env python3
"""docs_check.py CLEAR: README.md, CONTRIBUTING.md and docs/ against the tree and the program. Prints each fault; exit 1 if there is one.

Links and files exist; commands and options that are named exist, and every option of a command is on its page; quoted source lines
are the lines of the file; the conditions of doctor.md have the values of the thresholds, and every code; every format, kind, program of the
matrix, function of clear.h and fixture is on its page."""

import os
import re
import sqlite3
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEAR = os.path.abspath(sys.argv[1])
faults = []


def fault(page, text):
    faults.append(f"{page}: {text}")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


PAGES = {name: read(name) for name in ["README.md", "CONTRIBUTING.md", "fixtures/README.md"] +
         sorted("docs/" + name for name in os.listdir(os.path.join(ROOT, "docs")) if name.endswith(".md"))}
TREE = [os.path.relpath(os.path.join(folder, name), ROOT) for folder, folders, names in os.walk(ROOT)
        if not re.match(r"(\.git|build)(/|$)", os.path.relpath(folder, ROOT)) for name in names + folders]
BASENAMES = {os.path.basename(path) for path in TREE}


def run(*arguments, status=0):
    done = subprocess.run([CLEAR, *arguments], check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"})
    if done.returncode != status:
        sys.exit(f"clear {' '.join(arguments)}: status {done.returncode}, not {status}: {done.stderr}")
    return done.stdout if status == 0 else done.stderr


# ---- links and files -----------------------------------------------------------------------------------------------------

def anchors(text):
    """The names that the headings of a page have in links, as GitHub makes them."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def check_links(page, text):
    for target in re.findall(r"\]\(([^)\s]+)\)|src=\"([^\"]+)\"", text):
        target = target[0] or target[1]
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        path = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, path)):
            fault(page, f"the link {target} goes nowhere")
        elif anchor and anchor not in anchors(read(path)):
            fault(page, f"{path} has no heading #{anchor}")


FLOORS = "cli|serve|export|query|ingest|schema|base|tests|fixtures|bench|fuzz|docs"
# Names of files that a user has, not this project.
USERS = set("prog.c clear.yaml alloc.txt locks.txt mvcc.txt channels.txt fibers.txt syscalls.txt perf-stat.txt source.cht metadata.json "
            "old.profile".split())


def check_files(page, text):
    for word in re.findall(r"`([^`\n]+)`", text):
        if re.fullmatch(rf"(\.\./)?({FLOORS})/[\w./*-]*", word):
            pattern = re.escape(word.rstrip("/")).replace(r"\*", "[^/]*")
            if not any(re.fullmatch(pattern, path) for path in TREE):
                fault(page, f"there is no {word}")
        elif re.fullmatch(r"[\w-]+\.(c|h|cc|rs|sql|yaml|sh|py|awk|known|list|cht|go)", word) and "NAME" not in word \
                and word not in USERS and word not in BASENAMES:
            fault(page, f"no file is called {word}")


# What the maps of README.md and CONTRIBUTING.md say is where: a file, and the words in it that do it.
MAP = {"schema/doctor/lock.sql": "THEN 'lock-hot-long'", "export/speedscope.c": "speedscope.app/file-format-schema.json",
       "ingest/shim/heap/heap.c": "HOOK void *realloc(", "ingest/read/perf/records.c": "PERF_RECORD_MMAP2",
       "query/profile/filter_tags.c": '"tagfocus"'}


def check_map():
    for path, words in MAP.items():
        if words not in read(path):
            fault(path, f"has no {words}, and the maps say so")
        for page in ("README.md", "CONTRIBUTING.md"):
            if f"`{path}`" not in PAGES[page] and f"`{os.path.basename(path)}`" not in PAGES[page]:
                fault(page, f"{path} is not on the map")


def check_quotes(page, text):
    """`fault_leak.c:27: order->text = ...` is line 27 of that file."""
    for name, line, code in re.findall(r"\b(fault_\w+\.c):(\d+): (.*)", text):
        lines = read("fixtures/" + name).splitlines()
        if int(line) > len(lines) or lines[int(line) - 1].strip() != code.strip():
            fault(page, f"line {line} of {name} is not: {code}")


# ---- commands and options ------------------------------------------------------------------------------------------------


def completions(*words):
    """What a shell would offer for the last of these words."""
    return [line.split("\t")[0] for line in run("help", "--complete", "--", *words).splitlines()]


COMMANDS = completions("")
OPTIONS = {command: set(completions(command, "--")) for command in COMMANDS}
# Where each command's options are explained.
EXPLAINED = {"profile": "docs/recording.md", "ingest": "docs/formats.md", "query": "docs/asking.md", "export": "docs/formats.md",
             "serve": "docs/serving.md", "doctor": "docs/doctor.md", "report": "docs/reports.md"}
COMMON = {"--db", "--config", "--limit", "--help", "-h"}
# Options of other programs that the pages name.
FOREIGN = set("--local --rename --divert --add --remove --install --remove-all --git --daemonize --call-graph --threads --mended --version --cflags --profile --target --mount".split())


def check_options(page, text):
    known = set().union(*OPTIONS.values()) | FOREIGN
    for option in set(re.findall(r"(?<![\w-])--[a-z][\w-]*", text)):
        if option not in known:
            fault(page, f"no command has the option {option}")
    for command in set(re.findall(r"(?:^(?:    +|\$ )(?:\$ )?|[`;|] *)(?:\./)?clear ([a-z]+)\b", text, re.M)):
        if command not in COMMANDS:
            fault(page, f"there is no command clear {command}")


def check_explained():
    for command, page in EXPLAINED.items():
        others = OPTIONS["report"] if command == "export" else set()  # explained where reports are
        for option in sorted(OPTIONS[command] - COMMON - others):
            if option.startswith("--") and not re.search(rf"(?<![\w-]){option}(?![\w-])", PAGES[page]):
                fault(page, f"clear {command} {option} is not on it")


# ---- what the product lists ----------------------------------------------------------------------------------------------

FACTOR = {"ms": 1e6, "MB": 1e6, "": 1}


def check_doctor():
    page = "docs/doctor.md"
    conditions = PAGES[page].partition("## Conditions\n")[2].partition("\n## ")[0]
    with tempfile.TemporaryDirectory() as directory:
        db = os.path.join(directory, "new.sqlite")
        run("ingest", "-q", "--db", db, os.path.join(ROOT, "fixtures/corpus/folded/app.folded"))
        warehouse = sqlite3.connect(db)
        rules = {name: (value, unit) for name, value, unit in warehouse.execute("SELECT name, value, unit FROM rules")}
        codes = {tuple(code.split("-", 1)) for code, in warehouse.execute("SELECT code FROM advice")}
    pairs = re.findall(r"([\d,.]*\d)(?: (ms|MB)\b)?([^`(]*?)\(`(\w+)`\)", conditions)
    if len(pairs) != len(re.findall(r"\(`\w+`\)", conditions)) or len(pairs) < 30:
        fault(page, "a threshold in the conditions has no figure before it")
    # "... 20 % of the pushes waited (`channel_blocked_percent`)": the last figure before a name in parentheses.
    for figure, unit, between, name in pairs:
        if name not in rules:
            fault(page, f"there is no threshold {name}")
            continue
        value = float(figure.replace(",", "")) * (FACTOR[unit] if not (unit == "ms" and rules[name][1] == "ms") else 1)
        if value != rules[name][0]:
            fault(page, f"{name} is {rules[name][0]:g} {rules[name][1]}, not {figure} {unit}{between}")
    named = set()
    for section, text in re.findall(r"^\*\*(\w+)\*\*, (.*?)(?=^\*\*|\Z)", conditions, re.M | re.S):
        for code in re.findall(r"`([a-z][a-z-]*)`", text):
            if (section, code) in codes:
                named.add((section, code))
    for section, code in sorted(codes - named):
        fault(page, f"the condition of {section}: {code} is missing")
    for section, code in re.findall(r"`doctor_([a-z]+)_([a-z_]+)`", PAGES[page]):
        if (section, code.replace("_", "-")) not in codes:
            fault(page, f"there is no view doctor_{section}_{code}")


def check_lists():
    offered = completions("report", "")
    for page, names in (("docs/formats.md", completions("export", "--format", "")), ("docs/reports.md", offered[:offered.index("latest")])):
        if len(names) < 10:
            fault(page, f"clear lists only {names}")
        for name in names:
            if not re.search(rf"^\|[^|]*`{name.rstrip('=')}(=RE)?`[^|]*\|", PAGES[page], re.M):
                fault(page, f"the format or report {name} is not on it")
    programs = re.findall(r"^== (\S+)", read("tests/matrix.list"), re.M)
    rows = re.findall(r"^\| (\S+) \|", PAGES["docs/compatibility.md"].partition("|---")[2], re.M)
    if sorted(programs) != sorted(rows):
        fault("docs/compatibility.md", f"not the programs of tests/matrix.list: {sorted(set(programs) ^ set(rows))}")
    for name in set(re.findall(r"static inline void (clear_\w+)\(", read("ingest/clear.h"))):
        if f"`{name}(" not in PAGES["docs/clear-h.md"]:
            fault("docs/clear-h.md", f"{name} is not on it")


def check_differences():
    for path in ("tests/report_parity.known", "tests/report_code.known"):
        for name in re.findall(r"^([a-z-]+): ", read(path), re.M):
            if f"`{name}`" not in PAGES["docs/reports.md"]:
                fault("docs/reports.md", f"{path}: {name} is not on it")


def check_kinds():
    kinds = re.findall(r"\{\.name = \"(\w+)\",\s*\.types = \{(.*?)\},\s*\.default_type = \"(\w+)\"", read("schema/kinds.c"), re.S)
    if len(kinds) < 9:
        fault("docs/formats.md", "schema/kinds.c has no kinds")
    for name, types, default in kinds:
        listed = ", ".join("/".join(pair) for pair in re.findall(r"\{\"(\w+)\", \"(\w+)\"", types))
        if f"\n| `{name}` | {listed} | {default} |" not in PAGES["docs/formats.md"]:
            fault("docs/formats.md", f"the kind {name} has the sample types {listed}, and shows {default} first")


def check_fixtures():
    page = "fixtures/README.md"
    for path in TREE:
        folder, name = os.path.split(path)
        stem, ending = os.path.splitext(name)
        if folder == "fixtures" and ending in (".c", ".cc", ".rs", ".go", ".py", ".sql") and not re.search(rf"`{stem}({ending})?`", PAGES[page]):
            fault(page, f"{name} is not on it")


for name, content in PAGES.items():
    check_links(name, content)
    check_files(name, content)
    check_quotes(name, content)
    if name not in ("fixtures/README.md", "docs/compatibility.md", "docs/design.md"): # they name those of other programs
        check_options(name, content)
check_map()
check_explained()
check_doctor()
check_lists()
check_kinds()
check_differences()
check_fixtures()
if len(PAGES["README.md"].encode()) > 8192:
    fault("README.md", f"{len(PAGES['README.md'].encode())} bytes, more than 8,192")
print("\n".join(faults))
sys.exit(1 if faults else 0)
