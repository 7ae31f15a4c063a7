#!/usr/bin/env python3
"""code_profile.py OUT.pb.gz BINARY[@BIAS] FUNCTION-RE [BINARY[@BIAS] FUNCTION-RE ...]: a CPU profile of made-up samples, one at each
instruction of the functions that match (linked names), called from the first instructions of the binary's own `main` where it has one. The
binary lies BIAS (hex) above its own addresses, as the kernel would have mapped its executable segment; lines are those of addr2line."""
import gzip
import os
import random
import re
import subprocess
import sys

from wire import block, number, varint


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more).stdout


class Profile:
    def __init__(self):
        self.texts, self.functions, self.out, self.locations = {"": 0}, {}, bytearray(), {}

    def text(self, text):
        return self.texts.setdefault(text, len(self.texts))

    def function(self, name, system_name, file):
        key = (name, system_name, file)
        if key not in self.functions:
            ident = self.functions[key] = len(self.functions) + 1
            self.out += block(5, number(1, ident) + number(2, self.text(name)) + number(3, self.text(system_name)) + number(4, self.text(file)))
        return self.functions[key]

    def location(self, mapping, address, lines):
        key = (mapping, address)
        if key not in self.locations:
            ident = self.locations[key] = len(self.locations) + 1
            content = number(1, ident) + number(2, mapping) + number(3, address)
            for name, system_name, file, line in lines:
                content += block(4, number(1, self.function(name, system_name, file)) + number(2, line))
            self.out += block(4, content)
        return self.locations[key]


def segment(binary):
    """Where the executable segment is: address, offset, size, in whole pages."""
    for line in run("readelf", "-lW", binary).splitlines():
        field = line.split()
        if field[:1] == ["LOAD"] and "E" in field[6:-1]:
            offset, address, size = (int(field[i], 16) for i in (1, 2, 5))
            page = address & ~0xFFF
            return page, offset & ~0xFFF, (address + size + 0xFFF & ~0xFFF) - page


def build_id(binary):
    match = re.search(r"Build ID: (\w+)", run("readelf", "-nW", binary))
    return match[1] if match else ""


def instructions(binary, wanted):
    """Where the instructions of the functions that match begin. Without padding behind them, and without the last byte, which go tool
    pprof does not count to a function."""
    found, function, sizes = [], None, {}
    for line in run("nm", "-S", binary).splitlines():
        field = line.split()
        if len(field) == 4:
            sizes[int(field[0], 16)] = int(field[1], 16)
    for line in run("objdump", "-d", "--no-show-raw-insn", binary).splitlines():
        head = re.match(r"^([0-9a-f]+) <(.*)>:$", line)
        if head:
            function = head[2] if re.search(wanted, head[2]) else None
            end = int(head[1], 16) + sizes.get(int(head[1], 16), 1 << 62) - 1
        match = re.match(r"^ *([0-9a-f]+):\t", line)
        if match and function and int(match[1], 16) < end:
            found.append(int(match[1], 16))
    return found


def lines_of(binary, addresses):
    out, known = [], {}
    linked = run("addr2line", "-aif", "-e", binary, input="\n".join(map(hex, addresses)) + "\n")
    readable = run("addr2line", "-aifC", "-e", binary, input="\n".join(map(hex, addresses)) + "\n")
    pairs = list(zip(linked.splitlines(), readable.splitlines()))
    at = 0
    while at < len(pairs):
        if pairs[at][0].startswith("0x"):
            out = known[int(pairs[at][0], 16)] = []
            at += 1
            continue
        file, _, line = re.sub(r" \(discriminator.*", "", pairs[at + 1][0]).rpartition(":")
        name = pairs[at][1].split("(")[0]
        if pairs[at][0] != "??":
            out.append((name, pairs[at][0], "" if file == "??" else file, int(line) if line.isdigit() else 0))
        at += 2
    return known


def main():
    chance, profile, samples = random.Random(8), Profile(), bytearray()
    profile.out += block(1, number(1, profile.text("samples")) + number(2, profile.text("count")))
    profile.out += block(1, number(1, profile.text("cpu")) + number(2, profile.text("nanoseconds")))
    root = None
    for mapping, (where, wanted) in enumerate(zip(sys.argv[2::2], sys.argv[3::2]), 1):
        binary, _, bias = where.partition("@")
        bias = int(bias or "0", 16)
        start, offset, size = segment(binary)
        content = number(1, mapping) + number(2, start + bias) + number(3, start + bias + size) + number(4, offset)
        content += number(5, profile.text(os.path.abspath(binary))) + number(6, profile.text(build_id(binary)))
        profile.out += block(3, content + b"".join(number(field, 1) for field in (7, 8, 9, 10)))
        leaves = instructions(binary, wanted)
        callers = instructions(binary, "^main$")[:4] if mapping == 1 else []
        lines = lines_of(binary, leaves + callers)
        if callers:
            root = [profile.location(mapping, address + bias, lines[address]) for address in callers]
        for address in leaves:
            count = chance.choice([0, 0, 1, 3, 40, 500])
            stack = [profile.location(mapping, address + bias, lines[address])] + ([chance.choice(root)] if root else [])
            if count:
                samples += block(2, b"".join(number(1, ident) for ident in stack) + number(2, count) + number(2, count * 10101010))
    profile.out += samples + number(9, 1700000000000000000) + number(10, 1000000000)
    for text in profile.texts:
        profile.out += block(6, text.encode())
    with open(sys.argv[1], "wb") as file:
        file.write(gzip.compress(bytes(profile.out), mtime=0))


main()
