"""http_attacks.py PORT PID [recording|receiving TOKEN]: requests that no honest client sends, to a server of clear that must answer or drop each
one and stay as it was: `clear serve`, the server of a recording that is on and must remain so, or one that receives profiles and must store none. Prints a line per attack
that went wrong; the last line counts the attacks."""

import os
import socket
import struct
import sys
import time

PORT, PID = int(sys.argv[1]), int(sys.argv[2])
HEAP, TOGGLE, DUMP = b"/debug/pprof/heap", b"/debug/pprof/toggle", b"/debug/pprof/dump"
BEARER = b"Authorization: Bearer 00000000000000000000000000000000\r\n"
wrong, done = [], 0


def check(name, condition, said=b""):
    global done
    done += 1
    if not condition:
        wrong.append("%s: %r" % (name, said[:200]))


def connect():
    one = socket.create_connection(("127.0.0.1", PORT), timeout=60)
    one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return one


def read_all(one):
    """Until the server closes."""
    got = b""
    try:
        while True:
            piece = one.recv(65536)
            if not piece:
                return got
            got += piece
    except ConnectionResetError:
        return got
    except socket.timeout:
        return got + b"<<time-out>>"


def ask(raw):
    one = connect()
    try:
        one.sendall(raw)
    except (ConnectionResetError, BrokenPipeError):
        pass
    got = read_all(one)
    one.close()
    return got


def request(path=HEAP, method=b"GET", host=b"localhost", more=b"", version=b"HTTP/1.1"):
    head = method + b" " + path + b" " + version + b"\r\n"
    if host is not None:
        head += b"Host: " + host + b"\r\n"
    return ask(head + b"Connection: close\r\n" + more + b"\r\n")


def status(answer):
    words = answer.split(b"\r\n", 1)[0].split()
    return int(words[1]) if len(words) > 1 and words[0].startswith(b"HTTP/") else 0


def is_sentence(answer):
    head, _, body = answer.partition(b"\r\n\r\n")
    return b"text/plain" in head and b"nosniff" in head and body.endswith(b"\n") and b" " in body and b"\x00" not in body


def alive(after):
    answer = request(HEAP)
    check("alive after " + after, status(answer) == 200 and b"\x1f\x8b" in answer, answer)


def expect(name, answer, *wanted):
    check(name, status(answer) in wanted, answer)


def expect_ours(name, answer, *wanted):
    """One of our own errors, with a sentence."""
    check(name, status(answer) in wanted and is_sentence(answer), answer)


def descriptors():
    return len(os.listdir("/proc/%d/fd" % PID))


def resident_kb():
    with open("/proc/%d/status" % PID) as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def finish():
    print("\n".join(wrong + ["%d attacks, %d went wrong" % (done, len(wrong))]))
    sys.exit(1 if wrong else 0)


def attack_methods():
    for method in (b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"PATCH", b"FOO", b"get", b"G" * 200):
        answer = request(method=method)
        expect_ours("method " + method.decode()[:9], answer, 405)
        check("Allow of " + method.decode()[:9], b"\r\nAllow: GET, HEAD\r\n" in answer, answer)
    for method in (b"GET", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"post"):
        answer = request(TOGGLE, method)
        check(method.decode() + " of toggle", status(answer) == 405 and b"\r\nAllow: POST\r\n" in answer, answer)
    head = request(method=b"HEAD")
    check("HEAD has no body", status(head) == 200 and head.endswith(b"\r\n\r\n"), head)


def attack_hosts():
    for host in (b"evil.example", b"127.0.0.1.evil.example", b"localhost.evil.example:6060", b"169.254.169.254", b"[::2]",
                 b"localhost:x", b"local host", b"[::1", b"127.0.0.1@evil.example", b"x" * 4000):
        expect_ours("Host " + host.decode()[:30], request(host=host), 403)
    for host in (b"localhost", b"LocalHost:1", b"127.0.0.1:%d" % PORT, b"[::1]:80", b"[::1]"):
        expect("Host " + host.decode(), request(host=host), 200)
    expect("no Host", request(host=None), 400)
    expect("empty Host", request(host=b""), 400, 403)
    expect("two Hosts", request(more=b"Host: evil.example\r\n"), 400)
    expect("two Hosts, the other way", request(host=b"evil.example", more=b"Host: localhost\r\n"), 400)
    expect("no Host, HTTP/1.0", request(host=None, version=b"HTTP/1.0"), 400)
    expect_ours("a page of another site", request(more=b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n"), 403)
    expect_ours("a page of another port", request(more=b"Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n"), 403)
    for site in (b"same-site", b"cross-site"):
        expect_ours("a link to a delta, " + site.decode(), request(b"/debug/pprof/delta_heap", more=b"Sec-Fetch-Site: " + site +
                    b"\r\nSec-Fetch-Mode: navigate\r\n"), 403)
    expect("our own page and a delta", request(b"/debug/pprof/delta_heap", more=b"Sec-Fetch-Site: same-origin\r\nSec-Fetch-Mode: cors\r\n"), 200)
    link = b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"
    expect("a link on another site", request(more=link), 200)
    expect("a link of a browser that says where it goes", request(more=link + b"Sec-Fetch-Dest: document\r\n"), 200)
    for place in (b"iframe", b"object", b"embed", b"frame", b"", b"document\r\nSec-Fetch-Dest: iframe"):
        for path in (HEAP, b"/", b"/api/runs", b"/api/live"):
            answer = request(path, more=link + b"Sec-Fetch-Dest: " + place + b"\r\n")
            expect("%r in %r of another site" % (path, place), answer, 403)


def attack_paths():
    for path in (b"/debug/pprof/../../../../etc/passwd", b"/../../etc/passwd", b"/debug/pprof/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
                 b"/debug/pprof//etc/passwd", b"/debug/pprof/heap/", b"/debug/pprof/heap/..", b"/etc/passwd", b"//heap",
                 b"/debug/pprof/..%5c..%5cetc", b"/debug/pprof/trace", b"/debug/pprof/t.db", b"/favicon.ico"):
        answer = request(path)
        expect_ours("path " + path.decode(), answer, 404)
        check("no file in " + path.decode(), b"root:" not in answer and b"SQLite" not in answer, answer)
    for path in (b"http://localhost" + HEAP, b"*", b"heap", b"/debug/pprof/heap%00", b"/debug/pprof/%0d%0aX-Evil:1", b"/debug/%zz",
                 b"/debug/pprof/%"):
        answer = request(path)
        expect_ours("path " + path.decode(), answer, 400)
        check("no header made by " + path.decode(), b"\r\nX-Evil" not in answer, answer)
    expect("a URL of 3,000", request(b"/debug/pprof/" + b"a" * 3000), 414)
    expect("a URL of 100,000", request(b"/debug/pprof/" + b"a" * 100000), 414, 431, 0)
    expect("a query of 8,000", request(HEAP + b"?run=" + b"a" * 8000), 414)


def attack_parameters():
    for query in (b"seconds=0", b"seconds=-1", b"seconds=1e9", b"seconds=nan", b"seconds=x", b"seconds=", b"seconds",
                  b"seconds=1&seconds=1", b"seconds=1&from=1", b"sceonds=1", b"from=x", b"to=-1", b"debug=7", b"format=exe",
                  b"format=dump", b"format=datasette-metadata", b"debug=1&format=csv", b"run=%00", b"run=%ff%zz", b"=1", b"%=1",
                  b"type=nothing", b"format=../../x"):
        expect_ours("?" + query.decode(), request(HEAP + b"?" + query), 400)
    for run in (b"nobody", b"99999", b"-1", b"9" * 60, b"'%20OR%201--", b"%27;DROP%20TABLE%20runs;--", b"..", b"/etc/passwd",
                b"./heap.pb.gz", b"latest~99999", b"%2e%2e/t.db", b"%ff%fe"):
        answer = request(HEAP + b"?run=" + run)
        expect_ours("?run=" + run.decode(), answer, 404)
    expect_ours("delta with seconds", request(b"/debug/pprof/delta_heap?seconds=1"), 400)
    expect_ours("a kind that the run has not", request(b"/debug/pprof/channels"), 404)


def attack_symbol():
    path = b"/debug/pprof/symbol"
    for query in (b"", b"?", b"?+++", b"?0x", b"?-1", b"?0x" + b"f" * 60, b"?%00+%zz", b"?run=nobody", b"?" + b"0x1+" * 400):
        answer = request(path + query)
        check("symbol%r" % query[:9], status(answer) == 200 and b"\r\n\r\nnum_symbols: 1\n" in answer, answer)
    for body in (b"\x00" * 50, b"0x1+" * 16000, b"+" * 65536):
        answer = request(path, b"POST", more=b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        check("symbol of %r" % body[:9], status(answer) == 200 and b"\r\n\r\nnum_symbols: 1\n" in answer, answer)
    expect("addresses without end", request(path, b"POST", more=b"Content-Length: 65537\r\n"), 413)
    expect_ours("PUT of symbol", request(path, b"PUT"), 405)


def attack_toggle():
    attack_control("toggle", TOGGLE)
    for size, more in ((257, b""), (99999999, b""), (10, b"Content-Length: 10\r\n"), (10, b"Transfer-Encoding: chunked\r\n")):
        expect("a body of %d %r" % (size, more), request(TOGGLE, b"POST", more=BEARER + more + b"Content-Length: %d\r\n" % size), 400, 413)
    expect_ours("a body that is no form", request(TOGGLE, b"POST", more=BEARER + b"Content-Length: 8\r\n\r\nstate=on"), 415)
    expect_ours("a body to a profile", request(HEAP, b"POST", more=b"Content-Length: 8\r\n\r\nstate=on"), 405)
    check("recording is still on", b"Recording is on" in request(b"/debug/pprof/"))
    answer = request(TOGGLE, b"OPTIONS", more=b"Origin: http://localhost\r\nAccess-Control-Request-Headers: authorization\r\n")
    check("no page is let in by CORS", status(answer) == 405 and b"access-control" not in answer.lower(), answer)


def attack_dump():
    """The recording has --trace, and nobody has the token: no event may be stored."""
    attack_control("dump", DUMP)
    for method in (b"GET", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"post"):
        answer = request(DUMP, method, more=BEARER)
        check(method.decode() + " of dump", status(answer) == 405 and b"\r\nAllow: POST\r\n" in answer, answer)
    for size in (257, 99999999, 1 << 60):
        answer = request(DUMP, b"POST", more=BEARER + b"Content-Length: %d\r\n" % size)
        expect("a body of %d to dump" % size, answer, 400, 413)
    raw = b"POST %s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 40000000\r\n\r\n" % (DUMP, BEARER)
    answer = ask(raw + b"a" * 4000000)
    check("four megabytes to dump", status(answer) in (0, 400, 413), answer)
    half = []  # a whole header and half a body, half a header, and a header that never ends
    for text in (raw.replace(b"40000000", b"20") + b"x=1", raw[:60], raw[:-2]):
        one = connect()
        one.sendall(text)
        half.append(one)
    alive("dumps that are half asked for")
    for one in half:
        one.close()
    alive("dumps whose clients are gone")


def attack_receiving(token):
    """With the token, and bodies that are none."""
    right, started = b"Authorization: Bearer %s\r\n" % token, []
    for path, kind in ((b"/v1development/profiles", b"application/x-protobuf"), (b"/ingest?name=a", b"text/plain"),
                       (b"/push.v1.PusherService/Push", b"application/proto")):
        more = right + b"Content-Type: " + kind + b"\r\n"
        for method in (b"GET", b"HEAD", b"PUT", b"DELETE", b"OPTIONS", b"post"):
            answer = request(path, method, more=more)
            check("%r of %r" % (method, path), status(answer) == 405 and b"\r\nAllow: POST\r\n" in answer, answer)
        for token_more in (b"", b"Authorization: Bearer\r\n", b"Authorization: Bearer " + b"0" * 32 + b"\r\n", b"Authorization: Basic OmE=\r\n", right * 2):
            expect("%r with %r" % (path, token_more[:40]), request(path, b"POST", more=token_more + b"Content-Length: 5\r\n\r\nhello"), 401)
        expect("%r under another name" % path, request(path, b"POST", b"evil.example", more), 403)
        for site in (b"Origin: http://evil.example\r\n", b"Origin: null\r\n", b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"):
            expect("%r, %r" % (path, site), request(path, b"POST", more=more + site), 403)
        for length in (b"-1", b"x", b"", b"33554433", b"9" * 30, b"5\r\nContent-Length: 6", b"5, 5", b"0x5"):
            expect("%r of length %r" % (path, length), request(path, b"POST", more=more + b"Content-Length: " + length + b"\r\n\r\nhello"), 0, 400, 413)
        for chunk in (b"zz\r\nhello\r\n", b"-5\r\nhello\r\n", b"f" * 16 + b"\r\nhello\r\n", b"5 \r\nhello", b"\r\n", b"5\r\nhello\r\n0\r\nContent-Length: 9\r\n"):
            raw = b"POST %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%sTransfer-Encoding: chunked\r\n\r\n%s\r\n" % (path, more, chunk)
            one = connect()
            one.sendall(raw)
            one.shutdown(socket.SHUT_WR)
            started.append(("%r of chunks %r" % (path, chunk), one))
        expect("%r of gzip in gzip" % path, request(path, b"POST", more=more + b"Content-Encoding: gzip, gzip\r\nContent-Length: 5\r\n\r\nhello"), 415, 501)
    for name, one in started:  # what is no whole request is answered only when its time is over
        answer = read_all(one)
        one.close()
        check(name, status(answer) in (0, 400, 408, 413), answer)
    half = []
    for _ in range(24):
        one = connect()
        one.sendall(b"POST /ingest?name=a HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: 1000000\r\n\r\n" % right + b"a 1\n" * 50000)
        half.append(one)
    alive("bodies that are half sent")
    for one in half:
        one.close()
    alive("bodies whose clients are gone")


def attack_control(name, path):
    """Nobody without the token, whatever else is right."""
    def post(more=b"", query=b"", host=b"localhost", body=b""):
        if body:
            more += b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n" % len(body) + body
        return request(path + query, b"POST", host, more)
    for more in (b"", b"Authorization:\r\n", b"Authorization: Bearer\r\n", b"Authorization: Basic OmE=\r\n", b"Authorization: \xff\xfe\r\n",
                 b"X-Token: a\r\n", b"Cookie: token=a\r\n", BEARER * 2):
        expect_ours("no token: %r" % more, post(more), 401)
    for token in (b"", b"a", b"0" * 32, b"f" * 31, b"a" * 5000, b"%00", b"../../token", b"\xff" * 32, b"null", b"a b c"):
        expect_ours("token %r" % token[:40], post(b"Authorization: Bearer " + token + b"\r\n"), 401 if not token else 403)
    for trick, more, host in (("Host", b"", b"evil.example"), ("Origin", b"Origin: http://evil.example\r\n", b"localhost"),
                              ("Origin null", b"Origin: null\r\n", b"localhost"), ("empty Origin", b"Origin:\r\n", b"localhost"),
                              ("Origin of another port", b"Origin: http://localhost:1\r\n", b"localhost"),
                              ("Origin with more behind", b"Origin: http://localhost.evil.example\r\n", b"localhost"),
                              ("https Origin", b"Origin: https://localhost\r\n", b"localhost"),
                              ("two Origins", b"Origin: http://localhost\r\nOrigin: http://evil.example\r\n", b"localhost"),
                              ("a link", b"Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", b"localhost"),
                              ("another port", b"Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n", b"localhost"),
                              ("two sites", b"Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n", b"localhost")):
        answer = post(BEARER + more, host=host)
        expect_ours(name + ", " + trick, answer, 403)
        check("no token asked for: " + trick, b"WWW-Auth" not in answer and b"token" not in answer, answer)
    for query in (b"?token=" + b"0" * 32, b"?access_token=a", b"?state=", b"?state=x", b"?state=on&state=off", b"?run=1", b"?seconds=1",
                  b"?state=%00", b"?state=on%0d%0a", b"?%zz"):
        expect_ours(name + query.decode(), post(BEARER, query), 400)
    expect_ours(name + "/", request(path + b"/", b"POST", more=BEARER), 405)
    for body in (b"state=maybe", b"state=on&state=on", b"run=1", b"token=" + b"0" * 32, b"%zz", b"state=on\x00", b"\x00" * 256, b"a" * 256):
        expect_ours("body %r" % body[:20], post(BEARER, body=body), 400)


def attack_bodies():
    for more in (b"Content-Length: 10\r\n", b"Content-Length: 99999999999999\r\n", b"Transfer-Encoding: chunked\r\n"):
        expect("body: " + more.decode().strip(), request(more=more), 413)
    for more in (b"Content-Length: -1\r\n", b"Content-Length: x\r\n", b"Content-Length: 99999999999999999999999999\r\n"):
        expect("body: " + more.decode().strip(), request(more=more), 400, 413)
    answer = ask(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\nContent-Length: 44\r\n\r\n"
                 b"GET /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
    check("a request hidden in a body", answer.count(b"HTTP/1.1 ") == 1, answer)


SYNTAX = {"nothing": b"", "line ends": b"\r\n" * 5000, "no version": b"GET /\r\n\r\n", "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
          "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(600), "NULs": bytes(20000),
          "NUL in a path": b"GET /debug/pprof/heap\x00x HTTP/1.1\r\nHost: localhost\r\n\r\n",
          "NUL in a header": b"GET /debug/pprof/heap HTTP/1.1\r\nHost: local\x00host\r\nConnection: close\r\n\r\n",
          "a header without a colon": b"GET / HTTP/1.1\r\nHost localhost\r\n\r\n",
          "a folded header": b"GET / HTTP/1.1\r\nHost:\r\n localhost\r\n\r\n", "only a colon": b"GET / HTTP/1.1\r\n:\r\n\r\n",
          "a bad version": b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", "half a request": b"GET / HTT",
          "noise": bytes(range(256)) * 64}


def attack_syntax():
    """All at once: what is no whole request is answered only when its time is over."""
    started = []
    for name, raw in SYNTAX.items():
        one = connect()
        try:
            one.sendall(raw)
            one.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        started.append((name, one))
    for name, one in started:
        answer = read_all(one)
        one.close()
        check("ends: " + name, b"<<time-out>>" not in answer, answer)
        check("nothing stored is told: " + name, b"\x1f\x8b" not in answer or b"NUL in a" in name.encode(), answer)
    expect("a header of 100,000", request(more=b"X: " + b"a" * 100000 + b"\r\n"), 431, 413, 400, 0)
    expect("10,000 headers", request(more=b"X: a\r\n" * 10000), 431, 413, 400, 0)


def attack_connections():
    answer = ask((b"GET /debug/pprof/heap?debug=1 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 2)
                 + b"GET /debug/pprof/nothing HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    check("three requests at once", answer.count(b"HTTP/1.1 200") == 2 and answer.count(b"HTTP/1.1 404") == 1, answer)
    for i in range(200):  # gone before the answer, half of them rudely
        one = connect()
        one.sendall(b"GET /debug/pprof/ HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if i % 2:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        one.close()
    alive("200 clients that hang up")


def drip(slow):
    for one in slow:
        try:
            one.send(b"a")
        except OSError:
            pass


def dropped(one):
    one.settimeout(0)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def open_slow():
    """Some send a byte a while, some nothing, some ask for much and read nothing."""
    slow = [connect() for _ in range(20)]
    for one in slow[:10]:
        one.sendall(b"GET /debug/pprof/heap HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
    deaf = []
    for _ in range(5):
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", PORT))
        one.sendall(b"GET /debug/pprof/samples?run=wide&debug=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        deaf.append(one)
    return slow, deaf


def attack_patience(slow, deaf, began):
    while time.time() < began + 13:
        drip(slow[:10])
        time.sleep(0.5)
    check("slow clients are dropped", all(dropped(one) for one in slow), b"%d of %d" % (sum(map(dropped, slow)), len(slow)))
    for one in slow + deaf:
        one.close()


def gives_back():
    """True once it has no more descriptors than at first; a busy machine closes them later."""
    end = time.time() + 60
    while descriptors() > before + 1 and time.time() < end:
        time.sleep(0.1)
    return descriptors() <= before + 1


def attack_crowd():
    crowd = []
    began = time.time()
    alive("before a crowd")
    alone = time.time() - began
    for _ in range(193):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", PORT))
        crowd.append(one)
    time.sleep(0.5)
    check("connections are limited", descriptors() < before + 80, b"%d descriptors" % descriptors())
    began = time.time()
    alive("while a crowd says nothing")
    took = time.time() - began
    check("nobody waits for a crowd", took < 6 + 20 * alone, b"%.1f s, %.1f s without it" % (took, alone))
    for one in crowd:
        one.close()
    alive("a crowd")


if sys.argv[3:4] == ["receiving"]:
    HEAP = b"/debug/pprof/profile"
alive("nothing")
before, began = descriptors(), time.time()
if sys.argv[3:] == ["recording"]:
    attack_toggle()
    alive("attack_toggle")
    attack_dump()
    attack_methods()
    attack_bodies()
    attack_crowd()
    check("descriptors are given back", gives_back(), b"%d, then %d" % (before, descriptors()))
    finish()
if sys.argv[3:4] == ["receiving"]:
    attack_receiving(sys.argv[4].encode())
    check("descriptors are given back", gives_back(), b"%d, then %d" % (before, descriptors()))
    finish()
slow, deaf = open_slow()
for attack in (attack_methods, attack_hosts, attack_paths, attack_parameters, attack_symbol, attack_bodies, attack_syntax, attack_connections):
    attack()
    alive(attack.__name__)
middle = resident_kb()
attack_patience(slow, deaf, began)
alive("slow clients")
attack_crowd()
for attack in (attack_hosts, attack_paths, attack_bodies, attack_connections):
    attack()
check("descriptors are given back", gives_back(), b"%d, then %d" % (before, descriptors()))
# The sanitizer keeps freed memory for a while.
check("memory is given back", resident_kb() < middle + 8192 or "SANITIZED" in os.environ, b"%d KiB, then %d" % (middle, resident_kb()))
finish()
