"""store_serve.py FILE_URL STORE_URL FILE: what a server of a store answers is what a server of a file with the same runs answers."""
import json, os, re, sqlite3, sys, threading, urllib.error, urllib.parse, urllib.request

of_file, of_store, path = sys.argv[1:]
whole = os.environ.get('STORE_SERVE') == 'whole'  # or of each run one of its first two kinds, and of a third its findings
checks = 0


def ask(base, what, body=None):
    request = urllib.request.Request(base + what, data=body, headers={'Content-Type': 'text/plain'} if body else {})
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def check(condition, *what):
    global checks
    checks += 1
    if not condition:
        print('FAIL', *what)
        sys.exit(1)


def plain(text):
    """Numbers of runs, processes, profiles and the like follow the order in which runs came; the other names are the warehouses'."""
    text = re.sub(rb'"(run_id|id|base_run_id|old_run_id|new_run_id)": ?-?[0-9]+', rb'"\1":0', text)
    text = re.sub(rb'run(_id)? ?=? ?[0-9]+', b'run N', text)
    text = re.sub(rb'"trace_ids?": ?(\[[^]]*\]|"[^"]*"|-?[0-9]+)', b'"traces":0', text)
    return re.sub(rb'"id":-?[0-9]+', b'', text)


def plain_sets(text):
    """Of a comparison the sets of runs too."""
    return re.sub(rb'"name": "[0-9]+", "n": 1, "runs": \[[0-9]+\]', b'"n": 1', plain(text))


def same(what, plain=plain):
    (wanted_status, wanted), (status, got) = ask(of_file, what), ask(of_store, what)
    check(status == wanted_status, what, status, wanted_status, got[:300])
    check(plain(got) == plain(wanted), what, '\n', plain(got)[:600], '\n', plain(wanted)[:600])
    return got


def here():
    """The runs that were fetched."""
    status, lines = ask(of_store, '/api/rows', b'SELECT uuid FROM runs ORDER BY id')
    check(status == 200, lines)
    return [row[0] for row in map(json.loads, lines.decode().splitlines()) if isinstance(row, list)]


runs = sqlite3.connect(path).execute('SELECT uuid, label FROM runs ORDER BY started_ns, uuid').fetchall()
uuids = [uuid for uuid, _ in runs]

# The list is the store's, and fetches nothing.
listed = json.loads(ask(of_store, '/api/runs')[1])
check([run['uuid'] for run in listed] == uuids[::-1], 'the list', listed)
for what in ['', '?limit=3', '?label=nightly', '?tag=branch%3Dmain', '?q=sort', '?kind=lock', '?runs=last%3D2', '?before=' + uuids[3]]:
    same('/api/runs' + what)
check(json.loads(ask(of_store, '/api/server')[1])['warehouse'] == 'postgresql:///profiles, project all', 'its name')
check(here() == [], 'runs before one was named', here())

# One that is named is fetched, and no other; a page asks for it by the beginning of its uuid, several times at once.
mvcc = next(run['uuid'] for run in listed if 'mvcc' in run['command'])
answers = []
threads = [threading.Thread(target=lambda part=part: answers.append(ask(of_store, f'/api/{part}runs={mvcc[:13]}')))
           for part in ['run?', 'tree?kind=mvcc&', 'table?report=top&', 'findings?', 'objects?of=mvcc&', 'windows?'] * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
check([status for status, _ in answers] == [200] * len(threads), 'at once', answers)
check(here() == [mvcc], 'runs after one was named', here())

# Every run; of all together every resource.
for place, (uuid, label) in enumerate(runs):
    about = json.loads(same('/api/run?runs=' + uuid))
    kinds = [one['kind'] if isinstance(one, dict) else one for one in about['kinds']][:2]
    for kind in kinds if whole or uuid == mvcc else kinds[place % max(1, len(kinds)):][:1]:
        part = urllib.parse.urlencode({'runs': uuid, 'kind': kind})
        for resource in ['table?report=top&', 'tree?', 'windows?'] if uuid != mvcc else ['table?report=traces&', 'export?format=folded&', 'graph?format=dot&', 'series?']:
            same(f'/api/{resource}{part}')
        wanted, got = ask(of_file, '/api/export?' + part), ask(of_store, '/api/export?' + part)
        check(wanted == got, 'bytes of the profile', part)
    if whole or place % 3 == 0:
        same('/api/findings?runs=' + uuid)
    same('/debug/pprof/heap?debug=1&run=' + uuid)
check(sorted(here()) == sorted(uuids), 'all were named', here())
same('/api/findings?runs=nightly')
same('/api/run?runs=latest')
same('/api/run')
same('/api/run?runs=last%3D3')
of_mvcc = [run['uuid'] for run in listed if 'mvcc' in run['command']]
newer, older = (uuids[-1], uuids[-2]) if whole else of_mvcc  # the newest is Python's, whose 8,000 rows of a comparison take seconds
same('/api/compare?' + urllib.parse.urlencode({'runs': newer, 'base': older}), plain_sets)
same('/api/changes?figure=alloc_bytes&runs=all')
same('/debug/pprof/heap?debug=1')
same('/api/schema')

# What is wrong is said in words.
for what, words in [('nothing', "no run is 'nothing'"), ("'); DROP TABLE clear.runs; --", 'no run is'), ('-q', "no run is '-q'"), ('--db=x', 'no run is'), ('a,,b', 'empty|no run')]:
    status, said = ask(of_store, '/api/run?' + urllib.parse.urlencode({'runs': what}))
    check(status == 400 and re.search(words, said.decode()), what, status, said)
    status, said = ask(of_store, '/debug/pprof/heap?' + urllib.parse.urlencode({'run': what}))
    check(400 <= status < 500, what, status, said)
    status, said = ask(of_store, '/api/runs?' + urllib.parse.urlencode({'runs': what}))
    check(status == 400 and re.search(words, said.decode()), 'listed', what, status, said)
# Another warehouse is not listed either.
status, said = ask(of_store, '/api/runs?' + urllib.parse.urlencode({'runs': '--db=' + os.path.abspath(path)}))
check(status == 400 and b'no run is' in said, 'another warehouse', status, said)
status, said = ask(of_store, '/api/rows', b"INSERT INTO runs (uuid) VALUES ('x')")
check(status == 400, said)
check(sorted(here()) == sorted(uuids), 'after what was refused')
print(checks, 'checks')
