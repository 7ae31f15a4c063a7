"""exploding.py KIND DEPTH COUNT [LENGTH]: a small gzipped pprof profile on standard output that becomes large when it is written out.
KIND leaf: COUNT stacks of DEPTH frames that share all but the leaf; root: all but the root end, so that a call tree shares nothing;
names: DEPTH functions with names of LENGTH letters in COUNT stacks of all of them."""

import gzip
import sys


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def integer(number, value):
    return varint(number << 3) + varint(value)


def profile(names, stacks):
    out = [field(1, integer(1, 1) + integer(2, 2))]
    for i in range(1, len(names) + 1):
        out.append(field(5, integer(1, i) + integer(2, 2 + i)))
        out.append(field(4, integer(1, i) + field(4, integer(1, i) + integer(2, 1))))
    out += [field(2, field(1, b"".join(map(varint, stack))) + field(2, varint(1))) for stack in stacks]
    out += [field(6, text) for text in [b"", b"samples", b"count"] + names]
    return gzip.compress(b"".join(out), 9)


kind, depth, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
if kind == "names":
    texts = [b"n%d_" % i + b"x" * int(sys.argv[4]) for i in range(depth)]
    made = [[(i * 7 + j) % depth + 1 for j in range(depth)] for i in range(count)]
else:
    texts = [b"f%d" % i for i in range(200)]
    shared = [i % 199 + 1 for i in range(depth)]
    own = [[i % 199 + 1, i // 199 % 199 + 1, i // 39601 + 1] for i in range(count)]
    made = [one + shared if kind == "leaf" else shared + one for one in own]
sys.stdout.buffer.write(profile(texts, made))
