#!/usr/bin/env python3
"""report_prompt.py CLEAR PPROF DIRECTORY PROFILE...: scripts at the prompt of clear report against pprof's interactive mode.

Each script runs with both on a third of the PROFILEs, on others than the script before, with PROMPT=whole in the environment on all of
them, in a directory of its own, and then these are equal: standard output without
pprof's prompts, byte for byte; every file that was written; the list of options; what is said on the side; and how many commands were
refused. Where a profile has a default type, pprof's list shows its last type instead, which is not what it reports; that line is then
left out. Two things differ by intent, and no script does them: a bare `cum` or `lines`, which pprof of this version refuses, and
`normalize`, which it ignores once the profile is loaded. Exits 1 after the first differences."""
import concurrent.futures
import difflib
import os
import re
import subprocess
import sys

import older_pprof
import oracle

# NAME: the lines. Every report, option, word and shortcut of the prompt stands in at least one.
SCRIPTS = {
    "one": "top",
    "no newline at the end": "top 3|",
    "ten are shown where nothing is said": "text|tree|top",
    "digits at the name": "top5|tree3|top10|text2",
    "digits at a name with a pattern": "peek1|list9",
    "a count as a word": "top 3|top 0|tree 4|top 7 main",
    "negative and signed counts": "top -1|top +4|top -cum 3|tree -1",
    "a count beyond 32 bits is a pattern": "top 99999999999|top 2147483647",
    "cum for one line alone": "top 5 -cum|top 5|top --cum 4|tree -cum 2|top 3",
    "focus and ignore as words": "top main|top -runtime|top main json -gc|tree 5 runtime -malloc",
    "several of each": "top json gzip|top -json -gzip|tree 6 json gzip -runtime -syscall",
    "no match": "top nothinglikethis|tree nothinglikethis|top -.|tags nothinglikethis",
    "words leave the options alone": "focus=runtime|top 4|top 4 main|top 4|ignore=gc|top 4 -malloc|o|top 4",
    "a dash alone": "top 3 -|top - 3",
    "peek": "peek main|peek runtime.mallocgc|peek . 5|peek nothinglikethis|peek main -cum",
    "peek with focus": "peek malloc json|peek malloc -json|peek json gzip -cum",
    "a pattern is wanted": "peek|list|top 2",
    "list": "list nothinglikethis|list main.main|list . nothinglikethis",
    "traces": "traces main|traces -runtime|traces",
    "raw": "raw",
    "tags": "tags|tags phase|tags -phase|tags work -zip|tags .",
    "comments": "comments|comments main",
    "sort": "sort=cum|top 5|tree 3|sort=flat|top 5|cum=1|top 5|flat=true|top 5",
    "a sort that is none": "sort=sideways|top 3|sort=|top 3|sort|top 2",
    "granularities": "granularity=lines|top 5|granularity=files|top 5|granularity=filefunctions|top 5|granularity=addresses|top 5|"
                     "granularity=functions|top 5",
    "granularities by their names": "lines=true|top 5|files=1|tree 3|addresses=t|top 5|functions=T|top 3|filefunctions=True|top 4",
    "a granularity that is none": "granularity=words|o|lines=false|o|top 2",
    "noinlines": "noinlines|top 5|lines=1|top 5|noinlines=false|top 5",
    "numbers": "nodecount=4|top|tree|nodecount=-1|top|nodefraction=0.1|tree|edgefraction=0.2|tree|nodefraction=0|edgefraction=0|tree 9",
    "numbers that are none": "nodecount=many|nodefraction=|edgefraction=half|divide_by=x|nodecount|o|top 3",
    "trim": "trim=false|top|tree nothing|trim=yes|top 4|trim=no|peek main|trim|top",
    "units": "unit=ms|top 3|unit=kb|top 3|unit=auto|tree 3|unit=seconds|top 2|unit=foo|top 2|unit=minimum|top 3",
    "divide_by": "divide_by=3|top 3|divide_by=0.5|top 3|divide_by=0|top 3|divide_by=1000000|top 3|o",
    "how numbers are listed": "divide_by=1e6|o|divide_by=123456789|o|divide_by=0.00001|o|divide_by=1e21|o|divide_by=2.50|o",
    "mean": "mean|top 3|mean=false|top 3|mean=T|top 4 -cum|o",
    "sample_index by number": "sample_index=0|top 3|sample_index=1|top 3|sample_index=9|top 2|o",
    "sample_index by name": "sample_index=TYPE|top 3|sample_index=LAST|top 3|sample_index=nothing|top 2|sample_index|o",
    "a type alone": "TYPE|top 3|LAST|top 3|o",
    "total and mean of a type": "total_TYPE|top 3|mean_LAST|top 3|o|total_LAST|top 3|o|total_nothing|top 2",
    "relative_percentages": "relative_percentages|top 4 main|relative_percentages=f|top 4 main|relative_percentages=1|tree 3 -gc",
    "compact_labels": "compact_labels=false|top 3|tree 2|compact_labels|top 3",
    "long headers": "compact_labels=0|focus=main|ignore=gc|top 3|traces zzz|tags|peek main",
    "show and hide": "show=runtime|top 5|show=|hide=runtime|top 5|tree 3|hide=|top 2",
    "show_from and prune_from": "show_from=main|top 5|show_from=|prune_from=malloc|top 5|tree 3|prune_from=|top 3",
    "tagfocus and tagignore": "tagfocus=phase|top 3|tagfocus=bytes=1kb:|top 3|tagfocus=|tagignore=work|top 3|tagignore=16:100000|tags",
    "tagshow and taghide": "tagshow=phase|tags|tagshow=|taghide=bytes|tags|traces main",
    "tagroot and tagleaf": "tagroot=bytes|top 5|tagroot=phase,worker|top 5 -cum|tagroot=|tagleaf=bytes|top 5|tree 4",
    "all cleared": "focus=main|ignore=gc|hide=x|tagfocus=a|tagignore=b|show=runtime|o|:|o|top 3",
    "blanks": "  top   3  |\ttop\t2|focus = main |top 3| focus=|    |top 2  ",
    "comments of options": "nodecount=4 //: default|focus=main //: was //: this|o|top",
    "regular expressions": "top (?i)MAIN|focus=^runtime\\.m|top 4|top \\.go$|focus=[[:upper:]]|top 4|top main|top m.in$",
    "broken expressions": "top main( 3|focus=foo)|top 2|focus=|peek [|ignore=*|top|ignore=|top 2",
    "an option for a command": "focus main|cum 3|sample_index 1|top 2",
    "unknown commands": "hello|top( 3|TOP|10|to 3|top 2",
    "a file": "top 3 >out.txt|top 3|tree 2 > out2.txt|top 1 main >out.txt",
    "a file that is missing": "top >|top 3 >|tree > |top 2",
    "a file that cannot be": "top 3 >no/such/place|top 2",
    "output": "output=all.txt|top 3|tree 2|o|output=|top 3|o",
    "a picture goes to a file": "dot 5 >graph.dot|dot 3",
    "callgrind": "callgrind 5 >out.callgrind|callgrind",
    "profiles go to files": "proto >out.pb.gz|topproto >top.pb.gz|proto|topproto 3",
    "disasm of no binary": "disasm nothinglikethis|disasm|weblist|top 2",
    "call_tree": "call_tree|tree 5|top 3|o|call_tree=n|tree 5",
    "drop_negative": "drop_negative|top 3|drop_negative=false|top 3|o",
    "trim_path": "trim_path=/usr/lib/go-1.19/src|lines=1|top 4|trim_path=|top 4",
    "quit": "top 2|quit|top 3",
    "exit": "top 2|exit|top 3",
    "q": "top 1|q|top 3",
    "after quit with words": "top 1|quit now|top 3",
    "options are listed": "o|options|nodecount=3|o",
    "switches": "mean=maybe|trim=2|noinlines=YES|o|noinlines=n|o|mean=|o|mean=0|o",
    "many": "|".join(["top 2", "tree 2", "sample_index=0", "top 3 -cum", "peek main", "tags", "lines=1", "top 4 -runtime"] * 4),
}
SIDE = re.compile(r"matched no samples|Generating report in|Interpreted '.*' as range|For tag")
OPTION = re.compile(r"^  [a-z_]+ +=")
OURS = re.compile(r"^  (all|all_types|around|before_after|by_tag|columns|fold|from|history|inverted|kind|margin|only_source_path|over_runs|pivot|root|source_path|title|to|window) +=")


def run(command, text, directory, env):
    os.makedirs(directory)
    process = subprocess.run(command, input=text.encode(), capture_output=True, cwd=directory, env=env, timeout=120)
    files = {}
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), "rb") as file:
            files[name] = file.read()
    return process.stdout.decode(), process.stderr.decode(), process.returncode, files


def types_of(pprof, profile, env):
    out = subprocess.run([pprof, "-symbolize=none", "-raw", profile], capture_output=True, env=env, check=True).stdout.decode()
    line = out.split("Samples:\n")[1].split("\n")[0]
    is_last = "[dflt]" not in line or line.endswith("[dflt]")
    return is_last, [part.split("/")[0] for part in line.replace("[dflt]", "").split()]


def of_pprof(out, err):
    """What was reported, listed, said beside it, and how many commands were refused."""
    lines = err.split("Entering interactive mode", 1)[1].split("\n")[1:]
    said = [line for line in lines if line]
    listed = [line.rstrip() for line in said if OPTION.match(line)]
    side = [line for line in said if SIDE.search(line)]
    return out.replace("(pprof) ", ""), listed, side, len(said) - len(listed) - len(side)


def of_clear(out, err):
    lines = out.split("\n")
    listed = [line for line in lines if OPTION.match(line) and not OURS.match(line)]
    rest = "\n".join(line for line in lines if not OPTION.match(line))
    said = [re.sub(r"^clear: line \d+: ", "", line) for line in err.split("\n") if line]
    side = [line for line in said if SIDE.search(line)]
    return rest, listed, side, len(said) - len(side)


def as_older(name, want, got):
    """Our reports and list of options as an older pprof has them. It knows no columns, and names its granularity."""
    report, listed, *rest = got
    listed = [re.sub(r"\(default\) (?= *//: \[addresses)", "functions ", line) for line in listed if "showcolumns" not in line]
    text = (older_pprof.raw if name == "raw" else older_pprof.headers)(report.encode()).decode()
    return text, listed, *rest


def same_file(name, want, got, pprof, directory, env):
    if want == got:
        return True
    if name.endswith(".pb.gz"):  # not the bytes of gzip
        shown = [subprocess.run([pprof, "-symbolize=none", "-top", "-nodecount=0", f"{directory}/{who}/{name}"], capture_output=True,
                                env=env, check=True).stdout for who in ("pprof", "clear")]
        return shown[0] == shown[1]
    return False


class Subject:
    """A run, and what oracle.py makes of its tables: the same samples in the order of the warehouse, which pprof reads (see
    report_parity.known, order-of-samples)."""

    def __init__(self, clear, pprof, directory, name, env):
        if "#" in name:
            self.db, self.run, self.kind = name.split("#")
            self.name = f"recorded {self.kind}"
        else:
            self.name, self.run = os.path.basename(name), "1"
            self.db = f"{directory}/{self.name}.sqlite"
            subprocess.run([clear, "ingest", "-q", "--db", self.db, name], check=True)
            self.kind = subprocess.run(["sqlite3", self.db, "SELECT kind FROM profiles"], capture_output=True, check=True).stdout.decode().strip()
        self.file = f"{directory}/{self.name.replace(' ', '-')}.tables.pb.gz"
        oracle.write(self.db, self.file, self.kind, self.run)
        if older_pprof.is_older():
            self.file = older_pprof.merged(pprof, self.file, self.file.replace(".tables.", ".merged."))
            self.db, self.run = f"{directory}/{self.name.replace(' ', '-')}.merged.sqlite", "1"
            subprocess.run([clear, "ingest", "-q", "--db", self.db, self.file], check=True)
            self.kind = subprocess.run(["sqlite3", self.db, "SELECT kind FROM profiles"], capture_output=True, check=True).stdout.decode().strip()
            oracle.write(self.db, self.file, self.kind, self.run)
        self.default_is_last, self.types = types_of(pprof, self.file, env)
        self.target = ["--db", self.db, "--kind", self.kind, self.run]


def compare(clear, pprof, directory, subject, name):
    text = SCRIPTS[name].replace("TYPE", subject.types[0]).replace("LAST", subject.types[-1])
    text = text[:-1].replace("|", "\n") if text.endswith("|") else text.replace("|", "\n") + "\n"
    env = dict(os.environ, HOME=directory, TERM="dumb")
    env.pop("PPROF_TMPDIR", None)  # so that both put their files where they are
    out, err, status, wanted = run([pprof, "-symbolize=none", subject.file], text, f"{directory}/pprof", env)
    out = out.replace(f"{directory}/pprof", f"{directory}/clear")  # where sources were looked for
    want = of_pprof(out, err)
    out, err, status, made = run([clear, "report", *subject.target], text, f"{directory}/clear", env)
    got = of_clear(out, err)
    if older_pprof.is_older():
        got = as_older(name, want, got)
        made = {file: older_pprof.headers(content) for file, content in made.items()}
    if not subject.default_is_last:
        for lines in (want[1], got[1]):
            lines[:] = [line for line in lines if not line.startswith("  sample_index ")]
    problems = []
    for what, a, b in zip(("report", "list of options", "side"), want, got):
        if a != b:
            a, b = (a.split("\n"), b.split("\n")) if isinstance(a, str) else (a, b)
            problems.append("\n".join([what, *list(difflib.unified_diff(a, b, "pprof", "clear", lineterm="", n=1))[:12]]))
    if want[3] != got[3]:
        problems.append(f"refused: {want[3]} by pprof, {got[3]} by clear: {err}")
    if status != (1 if got[3] else 0):
        problems.append(f"exit status {status} after {got[3]} errors")
    if sorted(wanted) != sorted(made):
        problems.append(f"files: {sorted(wanted)} of pprof, {sorted(made)} of clear")
    for file in wanted:
        if file in made and not same_file(file, wanted[file], made[file], pprof, directory, env):
            a, b = wanted[file].decode(errors="replace").split("\n"), made[file].decode(errors="replace").split("\n")
            problems.append("\n".join(["file " + file, *list(difflib.unified_diff(a, b, "pprof", "clear", lineterm="", n=1))[:12]]))
    return [f"--- {name}, {subject.name}: {problem}" for problem in problems]


def main():
    clear, pprof, directory, *profiles = sys.argv[1:]
    env = dict(os.environ)
    every = 1 if env.get("PROMPT") == "whole" else 3
    tasks = []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for at, profile in enumerate(profiles):
            subject = Subject(clear, pprof, directory, profile, env)
            for number, name in enumerate(SCRIPTS):
                if (at + number) % every:
                    continue
                where = f"{directory}/prompt/{subject.name}.{number}"
                tasks.append(pool.submit(compare, clear, pprof, where, subject, name))
        problems = [problem for task in tasks for problem in task.result()]
    print(f"{older_pprof.name()}: {len(tasks)} sessions of {len(SCRIPTS)} scripts with {sum(s.count('|') + 1 for s in SCRIPTS.values())} lines, "
          f"{len(problems)} differences")
    for problem in problems[:12]:
        print(problem)
    return 1 if problems or len(tasks) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
