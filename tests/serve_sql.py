"""serve_sql.py PORT PID: SQL without end, of several addresses, must keep neither trees nor the SQL of others waiting. Prints what went wrong."""

import http.client
import select
import socket
import subprocess
import sys
import time

PORT, PID = map(int, sys.argv[1:])
PATIENCE = 100
ENDLESS = "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT max(i) FROM c"


def fail(*words):
    sys.exit(" ".join(map(str, words)))


def ask(address, path, sql=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=PATIENCE, source_address=(address, 0))
    connection.request("POST" if sql else "GET", path, sql)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text


def start(address):
    one = socket.create_connection(("127.0.0.1", PORT), PATIENCE, (address, 0))
    one.sendall(b"POST /api/rows?timeout=60 HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s" % (len(ENDLESS), ENDLESS.encode()))
    return one


def queries():
    """Commands that the server runs for SQL."""
    found = subprocess.run(["pgrep", "-c", "-P", str(PID), "-f", "--", "--file=-"], stdout=subprocess.PIPE, check=False)
    return int(found.stdout)


def expect_running(number, when):
    """They have begun, and when another answer has been made, there are no more of them."""
    until = time.monotonic() + PATIENCE
    while queries() != number:
        if time.monotonic() > until:
            fail(when, queries(), "queries run, not", number)
        time.sleep(0.01)
    status, text = ask("127.0.0.9", "/api/tree?kind=heap")
    if status != 200:
        fail(when, "a tree of another client:", status, text)
    if queries() != number:
        fail(when, queries(), "queries run after another answer, not", number)


def expect_waiting(endless, when):
    for one in select.select(endless, [], [], 0)[0]:
        fail(when, "a query without end was answered first:", one.recv(500))


first = [start("127.0.0.2") for _ in range(8)]
expect_running(2, "eight queries of one address:")
status, text = ask("127.0.0.2", "/api/rows", "SELECT 1")
if status != 503 or "8 queries of this address" not in text:
    fail("a ninth:", status, text)
status, text = ask("127.0.0.3", "/api/rows", "SELECT 42")
if status != 200 or "[42]" not in text:
    fail("of another address:", status, text)
expect_waiting(first, "one address:")

second = [start("127.0.0.3") for _ in range(4)]
expect_running(4, "of two addresses:")
third = [start("127.0.0.4") for _ in range(4)]
expect_running(4, "of three addresses:")
status, text = ask("127.0.0.5", "/api/rows", "SELECT 1")
if status != 503 or "16 other queries" not in text:
    fail("a seventeenth:", status, text)
expect_waiting(first + second + third, "three addresses:")

for one in first + second:
    one.close()
expect_running(2, "after two addresses have gone:")
for one in third:
    one.close()
expect_running(0, "after all have gone:")
for timeout in ("61", "2m", "0", "-1", "x"):
    status, text = ask("127.0.0.2", "/api/rows?timeout=" + timeout, "SELECT 1")
    if status != 400 or "timeout" not in text:
        fail("timeout=" + timeout, status, text)
status, text = ask("127.0.0.2", "/api/rows?timeout=60", "SELECT 1")
if status != 200:
    fail("timeout=60", status, text)
