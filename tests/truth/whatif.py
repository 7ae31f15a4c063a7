"""What a mended lock would bring, as `clear doctor --what-if` predicts it, against the same program with that lock mended."""
from common import *

# Program of fixtures/mended_lock, the lock, and the mend.
PAIRS = (("serve", "table_lock", "free"), ("serve", "table_lock", "half"), ("book", "table_lock", "shards=4"), ("book", "table_lock", "shards=8"), ("ask", "table_lock", "free"),
         ("save", "table_lock", "free"), ("save", "table_lock", "half"), ("route", "routes_lock", "free"), ("both", "table_lock", "free"), ("chance", "table_lock", "half"),
         ("phases", "table_lock", "free"), ("compute", "table_lock", "free"))
RUNS = int(os.environ.get("WHATIF_RUNS", "5"))
WITHIN, PAIRS_LEAST = 15, 10


def seconds(*arguments):
    began = time.monotonic()
    subprocess.run([fixture("mended_lock"), *arguments], check=True)
    return time.monotonic() - began


def middle(values):
    return sorted(values)[len(values) // 2]


def predicted(program, lock, mend):
    """How many times as fast, by one recorded run; None and why where it is refused."""
    profile([fixture("mended_lock"), program], ["--trace=lock,wait,hold,thread"])
    done = subprocess.run([CLEAR, "doctor", "--db", "t.db", "--what-if", f"lock=mended_lock:{lock}:{mend}", "--json"], capture_output=True, text=True)
    if done.returncode: return None, done.stderr.strip().split("\n")[0]
    answer = json.loads(done.stdout)
    return answer["duration_ns"] / answer["predicted_ns"], ""


heading("What a mended lock would bring",
        f"`clear doctor --what-if` of one recorded run of a program, against the program with that lock mended, which does the same otherwise (`fixtures/mended_lock.c`): the medians "
        f"of {RUNS} runs of each that nobody records, one after the other. A prediction is right within {WITHIN} % of that speed-up; {PAIRS_LEAST} of {len(PAIRS)} must be.")
header("program", "mend", "takes", "mended", "times as fast", "predicted (median)", "off")
right = 0
for program, lock, mend in PAIRS:
    before, after, answers = [], [], []
    for _ in range(RUNS):
        before.append(seconds(program))
        after.append(seconds(program, mend))
        answers.append(predicted(program, lock, mend))
    refused = [why for value, why in answers if value is None]
    real = middle(before) / middle(after)
    said = middle([value for value, _ in answers if value is not None] or [0])
    off = 100 * (said / real - 1)
    is_right = not refused and abs(off) <= WITHIN
    right += is_right
    row(program, mend, f"{1000 * middle(before):,.0f} ms", f"{1000 * middle(after):,.0f} ms", f"{real:.2f}", f"{said:.2f}", f"{off:+.0f} %",
        wrong=[] if is_right else ["refused: " + refused[0]] if refused else [f"more than {WITHIN} %"])
print(f"\n{right} of {len(PAIRS)} predictions are right.")
end(is_wrong=right < PAIRS_LEAST, by_rows=False)
