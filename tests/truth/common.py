"""What the checks of `make truth` share. A check prints one section of docs/truth.md: words, and a table of Markdown whose last column says
`right`, or what is wrong. $CLEAR is the program under test, $FIXTURES the compiled programs; a check works in an empty directory."""
import json, os, signal, sqlite3, subprocess, sys, time

CLEAR, FIXTURES = os.environ["CLEAR"], os.environ["FIXTURES"]
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
wrong_rows = 0


def fixture(name):
    return os.path.join(FIXTURES, name)


def clear(*arguments, **keywords):
    """What `clear ARGUMENTS` prints; an exception where it fails."""
    return subprocess.run([CLEAR, *arguments], capture_output=True, text=True, check=True, **keywords).stdout


def profile(command, options=(), database="t.db", **keywords):
    """Runs the command under clear profile; its CompletedProcess, with text."""
    keywords = {"stdin": subprocess.DEVNULL, **keywords}
    return subprocess.run([CLEAR, "profile", "-q", "--db", database, "-o", "none.profile", *options, "--", *command],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **keywords)


def ask(sql, *values, database="t.db"):
    """The rows that a query of the stock SQLite gives; :run is the newest run."""
    connection = sqlite3.connect(database, timeout=30)
    try:
        run = connection.execute("SELECT max(id) FROM runs").fetchone()[0]
        return connection.execute(sql, {"run": run, **dict(enumerate(values))}).fetchall()
    finally:
        connection.close()


def number(sql, **keywords):
    return ask(sql, **keywords)[0][0] or 0


def heading(title, *paragraphs):
    print(f"## {title}\n")
    for paragraph in paragraphs: print(paragraph + "\n")


def header(*columns):
    print("| " + " | ".join(columns) + " | |\n" + "|---" * (len(columns) + 1) + "|")


def row(*cells, wrong=()):
    """A row of the table; `wrong`: what is wrong with it, nothing if it is right."""
    global wrong_rows
    wrong_rows += bool(wrong)
    shown = [f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in cells]
    print("| " + " | ".join(shown) + " | " + ("**wrong:** " + "; ".join(wrong) if wrong else "right") + " |", flush=True)


def end(is_wrong=False, by_rows=True):
    """The status of the check: wrong where a row is, or where the table as a whole is; by_rows=False: where the table is, alone."""
    print()
    sys.exit(is_wrong or by_rows and wrong_rows > 0)
