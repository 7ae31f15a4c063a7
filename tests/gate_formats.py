"""Every format of clear gate, read back by a parser of somebody else: names that try to break out of each of them stay text, and what is
said is what --json says."""

import functools
import json
import os
import re
import subprocess
import sys
import urllib.parse
import xml.etree.ElementTree

from gate_seed import Warehouse, gate

HOSTILE = [
    'plain', 'quote"apostrophe\'', 'new\nline', 'return\r\nfeed', '::error file=x.c,line=1::forged', 'a,b:c%0Ad%25', ']]>', '<!-- & -->',
    '</failure><script>alert(1)</script>', '| cell | cell', '`code` **bold** [link](http://x)', '# heading', '@somebody #1',
    'escape\x1b[31mred', 'back\\slash', 'grün 文字', 'std::map<int, std::string>::operator[](int const&)', '${IFS} $(id)', '\x07bell',
]
RULES = "gates:\n  sites: {figure: alloc_count, subject: 'function *'}\n  watch: {figure: alloc_bytes, subject: 'function *', action: warn}\n"


def make():
    warehouse = Warehouse("f.db")
    for i, name in enumerate(HOSTILE):
        warehouse.trace(name, f"/src/dir with blank/f%{i},a:b.c", 100 + i)
    for side, more in (("old", 0), ("old", 0), ("new", 1)):
        warehouse.add_run(allocations={name: (100 + more * (i + 1), 1000) for i, name in enumerate(HOSTILE)}, tags={"side": side})
    warehouse.done()


@functools.cache
def report(name):
    status, out, errors = gate("tag:side=new", "--base", "tag:side=old", "--db", "f.db", "--source-root", "/src", "--format", name, config=RULES)
    assert status == 3 and not errors, (name, status, errors)
    return out


def shown_rows(answer):
    return [row for row in answer["rows"] if row["verdict"] != "pass"]


def check_junit(rows):
    text = report("junit")
    with open("gate.xml", "w", encoding="utf-8", newline="") as out:
        out.write(text)
    subprocess.run(["xmllint", "--noout", "--nonet", "gate.xml"], check=True)
    suite = xml.etree.ElementTree.fromstring(text).find("testsuite")
    cases = suite.findall("testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    assert int(suite.get("tests")) == len(cases) and int(suite.get("failures")) == len(failed) == len(rows), suite.attrib
    assert int(suite.get("skipped")) == sum(case.find("skipped") is not None for case in cases)
    # XML has no control characters, and a line end in an attribute is a blank.
    clean = {re.sub(r"[\x00-\x08\x0b-\x1f]", "\ufffd", "alloc_count of " + row["subject"].replace("\r", "\ufffd")).replace("\n", " ") for row in rows}
    names = {case.get("name") for case in failed}
    assert names == clean, (names ^ clean)
    assert {case.get("classname") for case in cases} == {"clear.gate.sites", "clear.gate.watch"}


def unescape(text):
    """As the runner does: actions/runner, ActionCommand.cs."""
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text


def check_github(rows):
    lines = report("github").split("\n")
    assert lines.pop() == "" and lines[-1].startswith("clear gate: fail: "), lines[-1]
    commands = lines[:-1]
    assert len(commands) == 10, len(commands)
    for line, row in zip(commands, rows):
        match = re.fullmatch(r"::(error|warning|notice) ([^:\r]*)::(.*)", line)
        assert match, line
        properties = dict(part.split("=", 1) for part in match[2].split(","))
        assert match[1] == "error" and set(properties) == {"file", "line", "title"}, line
        assert unescape(properties["file"]) == row["file"] and int(properties["line"]) == row["line"], (line, row)
        message = unescape(match[3])
        visible = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", "?", row["subject"])
        assert message.replace("\r", "?").startswith("alloc_count of " + visible.replace("\r", "?")), (message, row["subject"])


def check_markdown(rows):
    page = subprocess.run(["cmark-gfm", "--unsafe", "-e", "table"], input=report("markdown"), capture_output=True, text=True, check=True).stdout
    tree = xml.etree.ElementTree.fromstring("<page>" + page + "</page>")
    kinds = {element.tag for element in tree.iter()}
    assert kinds <= {"page", "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "code", "strong"}, kinds
    lines = tree.findall("table/tbody/tr")
    assert len(lines) == len(rows) + 1, (len(lines), len(rows)) # and the rule that passes
    subjects = ["".join(line.findall("td")[3].itertext()) for line in lines]
    wanted = [re.sub(r"[\x00-\x1f]", " ", row["subject"]) for row in rows]
    assert subjects[:len(rows)] == wanted, [pair for pair in zip(subjects, wanted) if pair[0] != pair[1]]


def check_sarif(rows, schema):
    text = report("sarif")
    log = json.loads(text)
    if schema:
        import jsonschema
        with open(schema, encoding="utf-8") as file:
            rules = json.load(file)
        jsonschema.validators.validator_for(rules)(rules).validate(log)
        broken = json.loads(text)
        broken["runs"][0]["results"][0]["level"] = "dreadful"
        assert list(jsonschema.validators.validator_for(rules)(rules).iter_errors(broken)), "the schema accepts anything"
    run = log["runs"][0]
    results = run["results"]
    assert len(results) == len(rows)
    for result, row in zip(results, rows):
        place = result["locations"][0]["physicalLocation"]
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == row["rule"]
        assert urllib.parse.unquote(place["artifactLocation"]["uri"]) == row["file"] and place["region"]["startLine"] == row["line"]
        assert not re.search(r"[ %,:](?![0-9A-F]{2})", place["artifactLocation"]["uri"]), place
        assert row["subject"] in result["message"]["text"]


def check_text(rows):
    out = report("text")
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", out), "a control character reaches the terminal"
    assert out.startswith("FAIL: 1 run against 2 runs of the base tag:side=old; rules: 1 failed, 1 passed\n"), out
    first = out.split("\n")[4]
    assert first.startswith("FAIL ") and f"+{len(HOSTILE)} (+{len(HOSTILE)}.0 %)" in first, first # the worst first
    assert len(rows) == sum(line.startswith("FAIL ") for line in out.split("\n"))


def check_outputs():
    """-o: the name of the file decides, else --format, which standard output has then no more."""
    arguments = ["tag:side=new", "--base", "tag:side=old", "--db", "f.db", "--source-root", "/src"]
    _, out, _ = gate(*arguments, "-o", "r.xml", "-o", "r.sarif", "-o", "r.md", "-o", "r.json", "--format", "github", config=RULES, check=3)
    assert out == report("github")
    for name, kind in (("r.xml", "junit"), ("r.sarif", "sarif"), ("r.md", "markdown"), ("r.json", "json")):
        with open(name, encoding="utf-8", newline="") as file:
            assert file.read() == report(kind), name
    _, out, _ = gate(*arguments, "-o", "report", "--format", "junit", config=RULES, check=3)
    with open("report", encoding="utf-8", newline="") as file:
        assert file.read() == report("junit")
    assert out == report("text")
    _, out, _ = gate(*arguments, "-o", "-", "--format", "junit", config=RULES, check=3)
    assert out == report("junit")
    status, _, errors = gate(*arguments, "-o", "no/such/directory/r.xml", config=RULES)
    assert status == 1 and "no/such/directory/r.xml" in errors, errors


def main():
    make()
    answer = json.loads(report("json"))
    rows = shown_rows(answer)
    assert {row["subject"] for row in rows} == {"function " + name for name in HOSTILE}
    assert [row["change"] for row in rows] == sorted((row["change"] for row in rows), reverse=True)
    for row in rows:
        assert row["file"] == f"dir with blank/f%{HOSTILE.index(row['subject'][9:])},a:b.c", row
    check_junit(rows)
    check_github(rows)
    check_markdown(rows)
    check_sarif(rows, sys.argv[1] if len(sys.argv) > 1 else None)
    check_text(rows)
    check_outputs()


os.environ["GITHUB_WORKSPACE"] = "/elsewhere"
main()
