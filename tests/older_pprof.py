"""older_pprof.py: which pprof is here, and our output as an older one would have it.

Ours follows the pprof of Go 1.24, which Debian 13 has; the one of Go 1.19, which Debian 12 has, does some things otherwise:
the entries of report_parity.known that begin with older-. Both were tried. `python3 older_pprof.py` prints which one it is."""
import datetime
import functools
import re
import subprocess

FOLLOWED = 24


@functools.lru_cache(None)
def go_minor():
    said = subprocess.run(["go", "version"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(re.search(r" go1\.(\d+)", said)[1])


def is_older():
    return go_minor() < FOLLOWED


def name():
    return f"pprof of go1.{go_minor()}" + (", an older one" if is_older() else "")


def merged(pprof, path, out):
    """older-input: writes what the older one makes of a file when it has read it."""
    subprocess.run([pprof, "-symbolize=none", "-proto", "-output", out, path], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    return out


def older_time(found):
    moment = datetime.datetime.strptime(found[1].decode(), "%Y-%m-%d %H:%M:%S")
    hour = moment.hour % 12 or 12
    return f"Time: {moment:%b} {moment.day}, {moment.year} at {hour}:{moment:%M}{'am' if moment.hour < 12 else 'pm'} (UTC)".encode()


def headers(text):
    """older-time and older-docs, in what a report says of its profile."""
    text = re.sub(rb"(?m)^Doc: .*\n|(?<=\\l)Doc: .*?\\l", b"", text)
    return re.sub(rb"Time: (\d+-\d\d-\d\d \d\d:\d\d:\d\d) UTC", older_time, text)


def raw(text):
    """older-columns and older-docs, in raw; what has columns comes merged."""
    return re.sub(rb"(?m):0 (s=-?[0-9]+(\(.*\))?)$", rb" \1", re.sub(rb"(?m)^Doc: .*\n", b"", text))


if __name__ == "__main__":
    print(name())
