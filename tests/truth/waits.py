"""Waits: programs that count and time their own, of every lock family, against what was recorded."""
from common import *

# The rate of the time stamp counter is measured: 0.1 %.
CLOCK = 0.001


def counted(name, *arguments, options=()):
    """The lines that the program prints, split into words, by the first word."""
    done = profile([fixture(name), *arguments], options)
    lines = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if words: lines.setdefault(words[0], []).append(words[1:])
    return lines


def of_object(name):
    return "object = 'thread join'" if name == "join" else f"(object GLOB '*:{name}' OR object = '{name}')"


def compare(wrong, what, recorded, truth):
    if recorded != truth: wrong.append(f"{what}: recorded {recorded:,}, true {truth:,}")


def compare_ns(wrong, recorded, least, most):
    if not least * (1 - CLOCK) <= recorded <= most * (1 + CLOCK): wrong.append(f"waited {recorded:,} ns, true {least:,} to {most:,}")


def show(program, name, kind, ops, waits, timeouts, ns, truth, wrong):
    row(program, name, kind, ops, waits, timeouts, f"{ns / 1e6:,.1f} ms" if ns is not None else "", truth, wrong=wrong)


def waits_of_wait_counts():
    lines = counted("wait_counts", options=["--interval=0.02"])
    times = {words[0]: [int(word) for word in words[1:]] for words in lines["wait_ns"]}
    for name, *counts in lines["wait"]:
        passes, waited, timeouts, signals, broadcasts = map(int, counts)
        if name == "join": passes += 4  # it asks whether four threads have ended, without a wait
        got = ask(f"SELECT sum(passes), sum(waited), sum(timeouts), sum(signals), sum(broadcasts), sum(wait_ns), max(kind) FROM wait_use "
                  f"WHERE run_id = :run AND {of_object(name)}")[0]
        wrong = []
        for what, ours, theirs in zip(("passes", "waits", "timeouts", "signals", "broadcasts"), got, (passes, waited, timeouts, signals, broadcasts)):
            compare(wrong, what, ours, theirs)
        if name in times: compare_ns(wrong, got[5], *times[name])
        show("wait_counts", name, got[6], got[0], got[1], got[2], got[5], span(times.get(name)), wrong)
    for name, timeouts, tries, least, most in lines["lock_ns"]:
        got = ask(f"SELECT sum(acquires + read_acquires), sum(timeouts), sum(failed_tries), sum(wait_ns + read_wait_ns), max(kind) FROM lock_use "
                  f"WHERE run_id = :run AND {of_object(name)}")[0]
        wrong = []
        compare(wrong, "timeouts", got[1], int(timeouts))
        compare(wrong, "failed tries", got[2], int(tries))
        compare_ns(wrong, got[3], int(least), int(most))
        show("wait_counts", name, got[4], got[0], 0, got[1], got[3], span([int(least), int(most)]), wrong)


def span(times):
    return f"{times[0] / 1e6:,.1f} to {times[1] / 1e6:,.1f} ms" if times else ""


def locks_of(program):
    """Lines `lock NAME acquires contended read_acquires read_contended`, where - is up to the scheduler."""
    for name, *counts in counted(program)["lock"]:
        got = ask(f"SELECT sum(acquires), sum(contended), sum(read_acquires), sum(read_contended), sum(wait_ns + read_wait_ns), max(kind) "
                  f"FROM lock_use WHERE run_id = :run AND {of_object(name)}")
        if not got[0][5] and not any(word not in ("0", "-") for word in counts): continue
        wrong = []
        for what, ours, theirs in zip(("acquisitions", "waits", "shared", "shared that waited"), got[0], counts):
            if theirs != "-": compare(wrong, what, ours or 0, int(theirs))
        show(program, name, got[0][5], (got[0][0] or 0) + (got[0][2] or 0), (got[0][1] or 0) + (got[0][3] or 0), 0, got[0][4], "counts", wrong)


def cells_and_channels():
    for program, kind, view, columns in (("mvcc", "cell", "cell_use", ["max(struct_size)", "sum(reads)", "sum(commits)", "sum(retries)", "sum(update_failures)", "sum(multi_commits)"]),
                                         ("channels", "channel", "channel_use", ["max(capacity)", "sum(pushes)", "sum(pops)", "sum(push_blocked)", "sum(pop_blocked)", "max(max_depth)"])):
        for name, *counts in counted(program)[kind]:
            got = ask(f"SELECT {', '.join(columns)} FROM {view} WHERE run_id = :run AND {of_object(name)}")[0]
            wrong = []
            for what, ours, theirs in zip(columns, got, counts):
                if theirs != "-": compare(wrong, what, ours or 0, int(theirs))
            ops, waits = (got[1] + got[2], got[3]) if kind == "cell" else (got[1] + got[2], got[3] + got[4])
            show(program, name, kind, ops, waits, 0, None, "counts", wrong)


def died_while_waiting():
    least = int(counted("wait_counts", "deadlock")["deadlock"][0][0])
    most = number("SELECT duration_ns FROM runs WHERE id = :run")
    for name in ("first_mutex", "second_mutex"):
        got = ask(f"SELECT sum(acquires), sum(unfinished), sum(wait_ns), max(kind) FROM lock_use WHERE run_id = :run AND wait_ns > 0 AND {of_object(name)}")[0]
        wrong = []
        compare(wrong, "unfinished waits", got[1] or 0, 1)
        compare_ns(wrong, got[2] or 0, least, most)
        show("wait_counts deadlock", name, got[3], got[0] or 0, got[1] or 0, 0, got[2] or 0, f"{least / 1e6:,.1f} ms and more", wrong)
    wrong = [] if ask("SELECT DISTINCT code FROM doctor WHERE run_id = :run AND section <> 'saturation' LIMIT 1") == [("deadlock",)] else ["doctor's first finding is another one"]
    show("wait_counts deadlock", "doctor's first finding", "", 0, 0, 0, None, "deadlock", wrong)


def pipes():
    switches = int(counted("wait_counts", "pipes")["pipes"][0][0])
    got = number("SELECT count FROM doctor_saturation WHERE run_id = :run AND code = 'unseen-waits'")
    show("wait_counts pipes", "waits that no hook sees", "", 0, got, 0, None, f"{switches:,} by the kernel",
         [] if abs(got - switches) <= 20 else ["not so many"])


heading("Waits and locks",
        "Programs that count what they do, and time it with a clock of their own: a wait is at least as long as from when the kernel says that the "
        "thread sleeps until it is woken, and at most as long as around the call. Counts are equal; times lie between, but for 0.1 %, by which "
        "the rate of the time stamp counter is measured.")
header("program", "object", "kind", "operations", "waits", "time limits reached", "waited", "true")
waits_of_wait_counts()
for program in ("lock_counts", "lock_contended", "cxx"): locks_of(program)
cells_and_channels()
died_while_waiting()
pipes()
end()
