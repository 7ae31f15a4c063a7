"""Real programs with a real load: each warning that doctor gives them is judged by hand, in real.judged."""
import random, re, shutil
from common import *

HERE = os.path.dirname(os.path.abspath(__file__))
FALSE_MOST = 3  # programs with a warning that an engineer who reads the source would not act on
LIMIT_S = 120
THREADS = tuple(int(one) for one in os.environ.get("REAL_THREADS", "4 8").split())
LOADS = ("alone", "stress-ng")
RUNS = len(THREADS) * len(LOADS)


def make_inputs(directory):
    """lines.txt and numbers.json, the same in every run."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(5000)]
    with open(f"{directory}/lines.txt", "w") as file:
        for i in range(300000): file.write(f"{i} {' '.join(chance.choices(words, k=6))}\n")
    with open(f"{directory}/numbers.json", "w") as file:
        json.dump([{"id": i, "name": chance.choice(words), "values": [chance.randint(0, 999) for _ in range(8)]} for i in range(120000)], file)


def blocks():
    """(name, what, user, prepare, run) of each block of real.list."""
    text = "\n".join(line for line in open(os.path.join(HERE, "real.list")).read().split("\n") if not line.startswith("# "))
    for block in re.split(r"^== ", text, flags=re.M)[1:]:
        head, body = block.split("\n", 1)
        name, what, *options = [part.strip() for part in head.split("|")]
        prepare, run = re.split(r"^--\n", body, maxsplit=1, flags=re.M)
        yield name, what, "".join(options).removeprefix("user="), prepare, run


def judged():
    """[(program, section/code, pattern of the subject, is it right, why)] of real.judged, whose lines are these five with a tab between."""
    rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(HERE, "real.judged")) if line.strip() and not line.startswith("#")]
    return [(program, code, re.compile(subject), verdict == "right", why) for program, code, subject, verdict, why in rows]


JUDGED = judged()


def judge(program, finding):
    """(True, why) where somebody who read the source would act on it; (False, why) where not, or where nobody looked yet."""
    code = f"{finding['section']}/{finding['code']}"
    for which, its_code, subject, is_right, why in JUDGED:
        if which in (program, "*") and its_code == code and subject.search(finding["subject"] or ""): return is_right, why
    return False, "not judged"


def command(user, script):
    shell = ["bash", "-c", script]
    return ["runuser", "-u", user, "--", *shell] if user else shell


def record(name, user, run, threads):
    """The findings of one run that are worth a warning, and its status."""
    environment = {**os.environ, "N": str(threads)}
    recorder = [CLEAR, "profile", "-q", "--no-git", "--db", "t.db", "-o", "none.profile", "--", "bash", "-c", run]
    words = ["runuser", "-u", user, "--", *recorder] if user else recorder
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open("err", "w"), start_new_session=True)
    try:
        status = process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        status = f"not at its end after {LIMIT_S} s"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    rows = json.loads(clear("doctor", "--db", "t.db", "--json"))
    return status, [one for one in rows if one["severity"] in ("critical", "warning") and one["section"] != "saturation"]


def check(name, user, run):
    """True where each warning of its runs is one to act on."""
    failed, said = [], {}
    for load in LOADS:
        stress = subprocess.Popen(["stress-ng", "--cpu", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if load == "stress-ng" else None
        try:
            for threads in THREADS:
                status, findings = record(name, user, run, threads)
                if status not in (0, 1 if name == "vim" else 0): failed.append(f"status {status} with {threads} threads, {load}")
                now = {(one["severity"], f"{one['section']}/{one['code']}", (one["subject"] or "")[:60]): judge(name, one) for one in findings}
                for key, (is_right, why) in now.items(): said.setdefault(key, [0, is_right, why])[0] += 1
        finally:
            if stress: stress.terminate(), stress.wait()
    bad = [key for key, (_, is_right, _) in said.items() if not is_right]
    shown = "; ".join(f"{code} {subject} ({count} of {RUNS}): {why}" for (_, code, subject), (count, _, why) in sorted(said.items()))
    critical = [key for key in bad if key[0] == "critical"]
    row(name, len(said), len(bad), shown or "nothing", wrong=failed + (["critical"] if critical else []))
    return not bad


heading("Real programs, judged by hand",
        "Programs of Debian with a load of some seconds, recorded with the default options: with "
        f"{' and with '.join(map(str, THREADS))} threads where they take a number of threads, alone and beside `stress-ng --cpu 2`: {RUNS} runs each. Each warning was looked at in the program's source: it is right where an engineer who maintains the program "
        f"would act on it, and false otherwise. Nothing critical may be false, and at most {FALSE_MOST} programs may have a false warning.")
header("program", "warnings", "of these, false", "which (in how many of the runs): why")
home, bad, tried = os.getcwd(), [], 0
inputs = os.path.join(home, "input")
os.makedirs(inputs)
os.chmod(home, 0o755)
os.environ.update(INPUT=inputs, ROOT=ROOT, CLEAR=CLEAR, PATH=os.environ["PATH"] + ":/usr/sbin")
make_inputs(inputs)
for name, what, user, prepare, run in blocks():
    if len(sys.argv) > 1 and name not in sys.argv[1:]: continue
    os.makedirs(os.path.join(home, name))
    os.chdir(os.path.join(home, name))
    if user: shutil.chown(".", user)
    subprocess.run(command(user, prepare), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    tried += 1
    if not check(name, user, run): bad.append(name)
    os.chdir(home)
    shutil.rmtree(name)
print(f"\n{len(bad)} of {tried} programs have a false warning" + (": " + ", ".join(bad) if bad else "") + ".\n")
end(len(bad) > FALSE_MOST)
