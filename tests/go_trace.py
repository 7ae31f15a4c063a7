"""Counts the events of an execution trace of Go: go_trace.py FILE prints BIRTHS|DEATHS|CALLS, calls of the system that ended. It splits the batches
by themselves and knows nothing of states and order."""
import sys

# How many numbers follow the name of each event, from ProcsChange (9) to ClockSnapshot (51).
COUNTS = [3, 3, 1, 4, 3, 4, 2, 3, 1, 1, 3, 3, 4, 3, 1, 1, 4, 3, 1, 2, 3, 2, 2, 2, 3, 2, 2, 1, 2, 2, 2, 5, 3, 4, 4, 5, 3, 3, 4, 5]
CREATE, CREATE_SYSCALL, DESTROY, DESTROY_SYSCALL, CALL_END, CALL_END_BLOCKED, SWITCH_DESTROY, CREATE_BLOCKED = 14, 15, 17, 18, 23, 24, 46, 47


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def batches(data):
    at = 16
    while at < len(data):
        kind = data[at]
        at += 1
        if kind == 52:
            continue
        assert kind == 1, (kind, at)
        for _ in range(4):
            size, at = varint(data, at)
        if size and data[at] not in (2, 4, 6, 8, 50):
            yield data[at:at + size]
        at += size


def count(data):
    seen = {}
    for batch in batches(data):
        at = 0
        while at < len(batch):
            kind = batch[at]
            at += 1
            seen[kind] = seen.get(kind, 0) + 1
            for _ in range(COUNTS[kind - 9]):
                _, at = varint(batch, at)
    return lambda *kinds: sum(seen.get(kind, 0) for kind in kinds)


def main():
    with open(sys.argv[1], "rb") as trace:
        seen = count(trace.read())
    print(seen(CREATE, CREATE_SYSCALL, CREATE_BLOCKED), seen(DESTROY, DESTROY_SYSCALL, SWITCH_DESTROY), seen(CALL_END, CALL_END_BLOCKED), sep="|")


main()
