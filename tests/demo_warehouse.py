"""A warehouse for pictures and for checks of every page: make(db) records small programs in the current directory. PAGES has a URL for each page."""
import json
import os
import shutil
import subprocess

from browser import CLEAR

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FIXTURES = os.environ.get("FIXTURES") or os.path.join(ROOT, "build", "fixtures")

PAGES = [
    ("runs", "/"),
    ("runs-chosen", "/?pick=@new&against=@old"),
    ("overview", "/?runs=parser"),
    ("overview-difference", "/?runs=@new&base=@old"),
    ("overview-set", "/?runs=@new"),
    ("overview-traced", "/?runs=traced"),
    ("overview-part", "/?runs=phases&from=200ms&to=800ms"),
    ("flame", "/?runs=parser&kind=cpu"),
    ("flame-search", "/?runs=parser&kind=cpu&q=alloc|free"),
    ("flame-difference", "/?runs=parser&base=@one&kind=cpu"),
    ("flame-sandwich", "/?runs=parser&kind=cpu&pivot=%5Ewrite_line%24"),
    ("top", "/?runs=parser&kind=cpu&page=top"),
    ("graph", "/?runs=parser&kind=cpu&page=graph"),
    ("peek", "/?runs=parser&kind=cpu&page=peek&function=%5E(copy_token|split|write_line)%24"),
    ("source", "/?runs=parser&kind=cpu&page=source&function=%5Ecopy_token%24%7C%5Ewrite_line%24"),
    ("disassembly", "/?runs=parser&kind=cpu&page=disasm&function=%5E(copy_token|write_line)%24"),
    ("tags", "/?runs=parser&kind=cpu&page=tags"),
    ("doctor", "/?runs=parser&page=doctor"),
    ("compare", "/?runs=@new&base=@old&page=compare"),
    ("trend", "/?runs=parser&page=trend&figure=alloc_count"),
    ("locks", "/?runs=locks&page=locks"),
    ("waits", "/?runs=traced&page=waits"),
    ("channels", "/?runs=queues&page=channels"),
    ("cells", "/?runs=cells&page=cells"),
    ("fibers", "/?runs=fibers&page=fibers"),
    ("wall", "/?runs=waiting&kind=wall"),
    ("timeline", "/?runs=traced&page=timeline"),
    ("windows", "/?runs=phases&kind=heap&page=live"),
    ("windows-parts", "/?runs=phases&kind=heap&page=live&base=phases&base_from=200ms&base_to=800ms&from=800ms&to=2s"),
    ("sql", "/?page=sql&query=chart#sql=SELECT+started%2C+label%2C+alloc_count%2C+cpu_ns%0AFROM+run_summary%0AWHERE+label+%3D+%27parser%27%0AORDER+BY+started"),
]


def record(db, label, program, *options, arguments=()):
    subprocess.run([CLEAR, "profile", "-q", "--db", db, "--label", label, "-o", label + ".profile", *options, program, *arguments], check=True, stdout=subprocess.DEVNULL)


def make(db):
    """Five runs of a parser with a commit each, the last two of which have a fault, and one run of each other kind."""
    shutil.copy(os.path.join(ROOT, "fixtures", "fault_tiny_allocs.c"), "parser.c")
    subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-I", os.path.join(ROOT, "fixtures"), "-o", "parser", "parser.c"], check=True)
    for label, name, options in (("phases", "phases", ["--interval", "100ms"]), ("fibers", "fibers", []), ("cells", "mvcc", []),
                                 ("queues", "channels", []), ("locks", "lock_contended", []), ("traced", "wait_books", ["--trace"])):
        shutil.copy(os.path.join(FIXTURES, name), name)
        record(db, label, "./" + name, *options)
    shutil.copy(os.path.join(FIXTURES, "wall_books"), "wall_books")
    record(db, "waiting", "./wall_books", "--wall", arguments=["1"])
    for i in range(5):
        tags = ["--tag", f"git_commit={0x3f1ab27c * (i + 2) % 2**32:08x}", "--tag", "branch=main"]
        record(db, "parser", "./parser", "--cpu=999", *tags, arguments=["--", "--mended"] if i < 3 else [])
    runs = json.loads(subprocess.run([CLEAR, "runs", "--json", "--db", db, "--label", "parser"], check=True, capture_output=True, text=True).stdout)
    names = {"@one": runs[2]["uuid"][:13], "@new": ",".join(run["uuid"][:13] for run in runs[:2]), "@old": ",".join(run["uuid"][:13] for run in runs[2:4])}
    for i, (name, path) in enumerate(PAGES):
        for word, meant in names.items():
            path = path.replace(word, meant)
        PAGES[i] = (name, path)
