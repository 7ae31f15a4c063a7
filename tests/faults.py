"""faults.py DB RUNS [--strict] [--counted] [--again=N] [NAME...]: profiles the pairs of tests/faults.list, or those that are named, RUNS times each into the new warehouse DB,
and prints a table of Markdown: a program with one known fault, and the same program with --mended.

A pair is right if in every run the fault is the first finding and worth a warning, the mended twin has no such finding, nothing critical
and at most one warning, and both print the same. --strict: nothing else than the fault is worth a warning, in either of them.
--counted: findings of CPU samples (section call) are not judged, so that all that is judged was counted. They are taken all the same: what allocations
cost is a share of the CPU time, or of the duration, in which the program may have had no processor. --again=N: a pair that is wrong may try again N
times, for a machine that has other things to do.
A fault that is never more than a note (severity=note) is right if that is among the findings.
A pair of a program whose compiler is not there is left out, and named. Exit 1 if a pair is wrong. $CLEAR is the program, $FIXTURES where
the programs are."""
import glob, json, os, re, subprocess, sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
LANGUAGES = {"c": "C", "cc": "C++", "rs": "Rust"}
strict = "--strict" in sys.argv
sampled = {"call"} if "--counted" in sys.argv else set()
again = next((int(argument[8:]) for argument in sys.argv if argument.startswith("--again=")), 0)
database, times, *wanted = [argument for argument in sys.argv[1:] if not argument.startswith("--")]


def pairs():
    for line in open(os.path.join(ROOT, "tests", "faults.list")):
        if line.startswith("#"): continue
        name, code, subject, *rest = [field.strip() for field in line.split("|")]
        options = rest[0].split() if rest else []
        severity = next((option[9:] for option in options if option.startswith("severity=")), "warning")
        status = next((int(option[7:]) for option in options if option.startswith("status=")), 0)
        yield name, code, subject, [option for option in options if not option.startswith(("status=", "severity="))], status, severity


def doctor(*arguments):
    return subprocess.run([os.environ["CLEAR"], "doctor", "--db", database, *arguments], capture_output=True, text=True, check=True).stdout


def busiest():
    """The function in the first row of the table of CPU time."""
    table = doctor().partition("\ncpu by function")[2].splitlines()
    return table[3].split("%")[-1].split()[0] if len(table) > 3 else ""


def is_first_printed(findings):
    """Whether doctor prints one of the findings of the first code before all others: the first name below the first heading."""
    sections = {row[1].split("/")[0] for row in findings}
    lines = doctor("--full-names").splitlines()
    begin = next((i for i, line in enumerate(lines) if line in sections), len(lines))
    names = [re.sub(r"^ *\[\d+\] ", "", lines[i + 1]).strip() for i in range(begin, len(lines)) if re.match("  (warning|critical) ", lines[i])]
    return any(names[:1] and names[0].startswith(row[2]) for row in findings if row[1] == findings[0][1])


def run(program, options, arguments, noted):
    """Status, output, the findings, with the notes of the code `noted`, (severity, section/code, subject), and what else is wrong with the run."""
    command = [os.environ["CLEAR"], "profile", "--quiet", "--db", database, "-o", "none.profile", *options, "--", program, *arguments]
    # Where TZ is set, as tests/run sets it, localtime asks for no file: stamped_log has no fault then.
    environment = {name: value for name, value in os.environ.items() if name != "TZ"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    rows = json.loads(doctor("--json"))
    wrong = ["lost: " + row["code"] for row in rows if row["section"] == "saturation" and row["code"] in ("dropped", "truncated", "unfinished")]
    found = [(row["severity"], row["section"] + "/" + row["code"], row["subject"]) for row in rows
             if row["section"] not in {"saturation"} | sampled and (row["severity"] in ("warning", "critical") or row["section"] + "/" + row["code"] == noted)]
    if found and not noted and not is_first_printed(found): wrong.append("printed first is another finding")
    status = done.returncode if done.returncode >= 0 else 128 - done.returncode
    return status, done.stdout, found or [("warning", "cpu/function", busiest())], wrong


def check(name, code, subject, options, status, severity):
    """What was found first in each run, what the twin's runs said, and what is wrong."""
    noted = code if severity == "note" else None
    program, first, twin, wrong = os.path.join(os.environ["FIXTURES"], "fault_" + name), [], [], []
    for _ in range(int(times)):
        got, said, found, also_wrong = run(program, options, [], noted)
        wrong += also_wrong
        first.append(found[0])
        good = found[0][1] == code and re.fullmatch(subject, found[0][2])
        if got != status: wrong.append(f"exit status {got}")
        if not good: wrong.append(f"first is {found[0][1]} {found[0][2]}")
        others = [row for row in found if row[1].split("/")[1] != code.split("/")[1]]  # a channel is a queue, and said to be slow as both
        if strict and others: wrong.append(f"also {others}")
        got, mended_said, found, also_wrong = run(program, options, ["--mended"], noted)
        wrong += ["mended: " + text for text in also_wrong]
        if got != 0: wrong.append(f"mended: exit status {got}")
        if status == 0 and said != mended_said: wrong.append("the two print different texts")
        if any(row[1] == code and re.fullmatch(subject, row[2]) for row in found): wrong.append(f"mended: still {code}")
        found = [row for row in found if row[1] != "cpu/function"]
        twin.append((sum(row[0] == "critical" for row in found), sum(row[0] == "warning" for row in found)))
        if twin[-1][0] or twin[-1][1] > (0 if strict else 1): wrong.append(f"mended: {found}")
    return first, twin, wrong


def main():
    every, good = 0, 0
    listed = {pair[0] for pair in pairs()}
    sources = {os.path.basename(path)[6:].split(".")[0]: path.rsplit(".", 1)[1] for path in glob.glob(os.path.join(ROOT, "fixtures", "fault_*.*"))
               if path.rsplit(".", 1)[1] in LANGUAGES}
    if listed != set(sources): sys.exit(f"in tests/faults.list or in fixtures/ alone: {sorted(listed ^ set(sources))}")
    print("| program | language | the fault is | first finding in | mended: critical | warnings | |\n|---|---|---|---|---|---|---|")
    for name, code, subject, options, status, severity in pairs():
        if wanted and name not in wanted: continue
        if not os.path.exists(os.path.join(os.environ["FIXTURES"], "fault_" + name)):
            print(f"| {name} | {LANGUAGES[sources[name]]} | {code} | not built | | | left out |")
            continue
        for _ in range(1 + again):
            first, twin, wrong = check(name, code, subject, options, status, severity)
            if not wrong: break
        named = sum(row[1] == code and bool(re.fullmatch(subject, row[2])) for row in first)
        print(f"| {name} | {LANGUAGES[sources[name]]} | {code} | {named} of {len(first)} | {max(row[0] for row in twin)} | "
              f"{max(row[1] for row in twin)} | {'**wrong:** ' + '; '.join(dict.fromkeys(wrong)) if wrong else 'right'} |", flush=True)
        every, good = every + 1, good + (not wrong)
    print(f"\n{good} of {every} pairs are right, {times} runs of each program.")
    return good < every or every == 0


sys.exit(main())
