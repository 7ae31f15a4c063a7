"""exploding.py KIND DEPTH COUNT [LENGTH]: a small gzipped pprof profile on standard output that becomes large when it is written out.
KIND leaf: COUNT stacks of DEPTH frames that share all but the leaf; root: all but the root end, so that a call tree shares nothing;
names: DEPTH functions with names of LENGTH letters in COUNT stacks of all of them."""

import functools
import gzip
import sys

from wire import block, number, varint

varint = functools.cache(varint) # a stack has few numbers, often


def profile(names, stacks):
    out = [block(1, number(1, 1) + number(2, 2))]
    for i in range(1, len(names) + 1):
        out.append(block(5, number(1, i) + number(2, 2 + i)))
        out.append(block(4, number(1, i) + block(4, number(1, i) + number(2, 1))))
    out += [block(2, block(1, b"".join(map(varint, stack))) + block(2, varint(1))) for stack in stacks]
    out += [block(6, text) for text in [b"", b"samples", b"count"] + names]
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
