#!/usr/bin/env python3
"""raw_profile.py FILE: what `go tool pprof -raw` printed, without ids and order: each sample with its frames in place of ids,
sorted; equal ones summed, as pprof itself does with duplicates when it merges. Of other tests in Python: plain(FILE)."""
import re
import sys


def plain(path):
    section, head, samples, locations, mappings = "head", [], [], {}, {}
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line in ("Samples:", "Locations", "Mappings"):
            section = line
        elif section == "head":
            head.append(line)
        elif section == "Samples:":
            match = re.match(r"^ *([-0-9 ]+): ?([0-9 ]*)$", line)
            if match:
                samples.append((match[1].split(), match[2].split(), []))
            elif line.startswith("                "):
                samples[-1][2].append(" ".join(sorted(re.findall(r"\S+:\[.*?\](?= |$)", line))))
            else:
                head.append(line)
        elif section == "Locations":
            match = re.match(r"^ +(\d+): (0x.*)$", line)
            if match:
                last = match[1]
                locations[last] = [match[2]]
            else:
                locations[last].append(line.strip())
        elif line.strip():
            ident, text = line.split(":", 1)
            mappings[ident] = text.strip()
    frames = {}
    for ident, lines in locations.items():
        text = " > ".join(lines)
        frames[ident] = re.sub(r" M=(\d+)", lambda match: f" M=({mappings[match[1]]})", text)
    sums = {}
    for values, stack, labels in samples:
        key = (" | ".join(frames[ident] for ident in stack), "; ".join(sorted(labels)))
        sums[key] = [int(a) + int(b) for a, b in zip(sums.get(key, [0] * len(values)), values)]
    return head + sorted(f"{values} {labels} {stack}" for (stack, labels), values in sums.items()) + sorted(mappings.values())


if __name__ == "__main__":
    print("\n".join(plain(sys.argv[1])))
