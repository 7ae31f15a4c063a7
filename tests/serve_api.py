"""serve_api.py URL DB PID: answers of the API of clear serve against the commands, and against sums of folded stacks made here."""
import csv
import http.client
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.parse

CLEAR = os.environ['PLAIN_CLEAR']  # says what the server's answers are compared with
HOST, DB, SERVER = urllib.parse.urlsplit(sys.argv[1]).netloc, sys.argv[2], sys.argv[3]
checks = 0


def request(path, method='GET', body=None, headers=None):
    connection = http.client.HTTPConnection(HOST, timeout=60)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data, answer


def get(resource, **selection):
    status, data, answer = request('/api/%s?%s' % (resource, urllib.parse.urlencode(selection)))
    if status != 200:
        raise SystemExit('GET %s %s: %d %s' % (resource, selection, status, data[:300]))
    return json.loads(data) if answer.headers['Content-Type'] == 'application/json' else data


def clear(*words):
    done = subprocess.run([CLEAR, *words, '--db', DB], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        raise SystemExit('clear %s: %s' % (' '.join(words), done.stderr.decode()))
    return done.stdout


def same(got, want, what):
    global checks
    checks += 1
    if got != want:
        raise SystemExit('%s:\n got %s\nwant %s' % (what, str(got)[:2000], str(want)[:2000]))


def refused(status, path, words, **more):
    got, data, answer = request(path, **more)
    same(got, status, '%s: %s' % (path[:100], data[:300]))
    if path.startswith('/api/'):
        same(answer.headers['Content-Type'], 'application/json', 'type of the error of ' + path[:100])
        data = json.loads(data)['error'].encode()
    same(words.encode() in data, True, '%s says %s, not %s' % (path[:100], data[:300], words))


# ---- trees, from folded stacks

def folded(*words):
    """{path: value} with all below it, of paths from the root."""
    totals, selves = {(): 0}, {}
    for line in clear('report', '-folded', *words).decode().splitlines():
        stack, value = line.rsplit(' ', 1)
        path = tuple(stack.split(';'))
        selves[path] = selves.get(path, 0) + int(value)
        for depth in range(len(path) + 1):
            totals[path[:depth]] = totals.get(path[:depth], 0) + int(value)
    return totals, selves


def nodes_of(tree):
    nodes, paths, found = tree['nodes'], [], {}
    for i, parent in enumerate(nodes['parent']):
        path = paths[parent] + (tree['names'][nodes['name'][i]],) if i else ()
        paths.append(path)
        found[path] = i
    return found


def check_tree(words, **selection):
    tree = get('tree', width=20000, **selection)
    totals, selves = folded(*words)
    found, nodes = nodes_of(tree), tree['nodes']
    same(len({len(column) for column in nodes.values()}), 1, 'columns of one length')
    for path, i in found.items():
        same(nodes['value'][i], totals[path], 'value of %s' % (path,))
        same(nodes['self'][i], selves.get(path, 0), 'self of %s' % (path,))
        below = [p for p in totals if len(p) == len(path) + 1 and p[:-1] == path and p not in found]
        same(nodes['hidden_count'][i], len(below), 'hidden below %s' % (path,))
        same(nodes['hidden_value'][i], sum(totals[p] for p in below), 'hidden value below %s' % (path,))
        # Zooming: the same id, and what is below is the same.
        if i and i < 20:
            part = get('tree', width=20000, root=nodes['id'][i], **selection)
            same(part['nodes']['id'][0], nodes['id'][i], 'the id of a root')
            same(part['nodes']['value'][0], totals[path], 'the value of a root')
            same([step['name'] for step in part['path']], ['root', *path[:-1]], 'the way to a root')
            for below, j in nodes_of(part).items():
                same(part['nodes']['value'][j], totals[path + below], 'value below a root')
    same({len(tree[name]) for name in ('places', 'origins', 'module')}, {len(tree['names'])}, 'what is said of each name')
    same([at for at in tree['module'] if not 0 <= at < len(tree['modules'])], [], 'modules of names')
    same(tree['total'], totals[()], 'total')
    same(tree['nodes_in_all'], len(totals), 'nodes in all')
    return tree


def check_trees():
    check_tree(('heaps',), runs='heaps')
    check_tree(('heaps', '--sample_index=alloc_objects'), runs='heaps', type='alloc_objects')
    check_tree(('heaps', '--focus=keep'), runs='heaps', f='keep')
    check_tree(('heaps', '--lines'), runs='heaps', g='lines')
    check_tree(('waits', '--kind=lock'), runs='waits', kind='lock')
    check_tree(('heaps,waits', '--kind=heap'), runs='heaps,waits', kind='heap')
    # Leaf first, and around a pivot, from the folded stacks.
    totals, selves = folded('heaps')
    for pivot, inverted in ((None, 1), ('^keep$', 0), ('^keep$', 1)):
        want = {(): 0}
        for path, value in selves.items():
            if pivot and 'keep' not in path:
                continue
            path = path[path.index('keep'):] if pivot and not inverted else path
            path = path[:path.index('keep') + 1] if pivot and inverted else path
            path = path[::-1] if inverted else path
            for depth in range(len(path) + 1):
                want[path[:depth]] = want.get(path[:depth], 0) + value
        selection = {'pivot': pivot} if pivot else {}
        tree = get('tree', runs='heaps', width=20000, inverted=inverted, **selection)
        for path, i in nodes_of(tree).items():
            same(tree['nodes']['value'][i], want[path], 'pivot %s, inverted %d: %s' % (pivot, inverted, path))
        same(tree['nodes_in_all'], len(want), 'nodes around a pivot')
    # A narrow picture has what is at least half a pixel wide.
    narrow, wide = get('tree', runs='heaps', width=100), get('tree', runs='heaps', width=20000)
    limit = max(1, wide['total'] // 200)
    same(narrow['min'], limit, 'the limit of what is shown')
    want = sorted(p for p, i in nodes_of(wide).items() if wide['nodes']['value'][i] >= limit)
    same(sorted(nodes_of(narrow)), want, 'what is wide enough')


def faults_of_children():
    """Page faults of the processes that the server has waited for: they rise whenever one made an answer."""
    with open('/proc/%s/stat' % SERVER, encoding='ascii') as stat:
        return int(stat.read().rsplit(')', 1)[1].split()[8])


def check_cache():
    """A tree is built once for a selection, and runs are described once, also when the server has closed its file for want of requests."""
    tree, run = get('tree', runs='heaps', f='chain'), get('run', runs='heaps')
    before = faults_of_children()
    time.sleep(3)
    same(get('tree', runs='heaps', f='chain'), tree, 'a tree that is there')
    get('tree', runs='heaps', f='chain', root=tree['nodes']['id'][-1], width=77)
    same(get('run', runs='heaps'), run, 'a run that is known')
    same(faults_of_children(), before, 'work for a tree that is there')
    get('tree', runs='heaps', f='chain', type='alloc_space')
    same(faults_of_children() > before, True, 'work for another tree')
    with sqlite3.connect(DB) as db:
        db.execute("INSERT INTO tags (run_id, key, value) VALUES (1, 'new', 'yes')")
    before = faults_of_children()
    same(get('tree', runs='heaps', f='chain'), tree, 'a tree of a file that has changed')
    same(faults_of_children() > before, True, 'work for a tree of a file that has changed')
    before = faults_of_children()
    same(get('run', runs='1')['runs'][0]['tags']['new'], 'yes', 'a run of a file that has changed')
    same(faults_of_children() > before, True, 'work for a run of a file that has changed')


def found_in(totals, root, regex):
    """How many nodes at and below `root` match, and their sum, in which a match below another one counts once."""
    is_match = {path: bool(path) and bool(re.search(regex, path[-1], re.I)) for path in totals if path[:len(root)] == root}
    outer = [path for path in is_match if is_match[path] and not any(is_match[path[:depth]] for depth in range(max(1, len(root)), len(path)))]
    return {'count': sum(is_match.values()), 'value': sum(totals[path] for path in outer)}


def check_search():
    """A search counts what is too narrow to be sent: the answer does not depend on the width."""
    totals = folded('heaps')[0]
    nodes = nodes_of(get('tree', runs='heaps', width=20000))
    tree = get('tree', runs='heaps', width=20000)
    for regex in ('keep', '^MAIN$', '.', 'e', 'a|x', 'nobody'):
        for root in [(), *sorted(nodes, key=len)[1:6]]:
            selection = {'root': tree['nodes']['id'][nodes[root]]} if root else {}
            same(get('tree', runs='heaps', width=1, search='(?i)' + regex, **selection), found_in(totals, root, regex), f'search for {regex} below {root}')
    old, new = folded('waits', '--kind=heap')[0], folded('heaps', '--kind=heap')[0]
    both = {path: new.get(path, 0) for path in {*old, *new}}
    before = {path: old.get(path, 0) for path in both}
    same(get('tree', runs='heaps', base='waits', kind='heap', search='a'), {**found_in(both, (), 'a'), 'base': found_in(before, (), 'a')['value']}, 'search in a difference')
    refused(400, '/api/tree?runs=heaps&search=(', 'missing closing parenthesis')
    refused(404, '/api/tree?runs=heaps&root=77&search=x', 'no node 77')


def check_difference():
    tree = get('tree', runs='heaps', base='waits', kind='heap', width=20000)
    old, new = folded('waits', '--kind=heap')[0], folded('heaps', '--kind=heap')[0]
    same((tree['is_diff'], tree['total'], tree['base_total']), (True, new[()], old[()]), 'totals of a difference')
    for path, i in nodes_of(tree).items():
        same((tree['nodes']['value'][i], tree['nodes']['base'][i]), (new.get(path, 0), old.get(path, 0)), str(path))


# ---- answers that are a command's own

def check_commands():
    same(get('runs'), json.loads(clear('runs', '--json')), 'runs')
    same([run['label'] for run in get('runs', q='HEAP')], ['heaps'], 'runs by text')
    same([run['label'] for run in get('runs', q='branch=ma')], ['waits'], 'runs by a tag')
    newest = get('runs', limit=1)
    same(len(newest), 1, 'a page of runs')
    rest = get('runs', before=newest[0]['uuid'])
    same(newest + rest, get('runs'), 'the pages together')
    same(get('runs', limit=1)[0]['kinds'], sorted(clear('query', '--format=csv', '--no-header',
         'SELECT DISTINCT kind FROM profiles JOIN runs ON runs.id = run_id WHERE uuid = \'%s\'' % newest[0]['uuid']).decode().split()),
         'kinds of a run')
    same(get('run', runs='heaps'), json.loads(clear('runs', '--describe', 'heaps')), 'a set')
    for words, selection in (
            (('heaps',), {'runs': 'heaps'}),
            (('heaps', '--cum', '-n', '3'), {'runs': 'heaps', 'sort': 'cum', 'n': 3}),
            (('heaps', '--hide=^main$', '--lines'), {'runs': 'heaps', 'h': '^main$', 'g': 'lines'}),
            (('heaps', '--kind=heap', '--diff_base=waits'), {'runs': 'heaps', 'kind': 'heap', 'base': 'waits'}),
            (('waits', '--kind=lock', '--sample_index=contentions'), {'runs': 'waits', 'kind': 'lock', 'si': 'contentions'}),
            (('heaps', '--kind=heap', '--window=1'), {'runs': 'heaps', 'window': 1})):
        same(get('table', **selection), json.loads(clear('report', '-json', *words)), 'table of %s' % (words,))


def check_peek():
    whole = json.loads(clear('report', '-json', '--trim=false', 'heaps'))
    names = [node['name'] for node in whole['nodes']]
    calls = {(names[edge['from']], names[edge['to']]): edge['weight'] for edge in whole['edges']}
    want = {pair: weight for pair, weight in calls.items() if 'keep' in pair}
    got = get('table', runs='heaps', report='peek', function='^keep$')
    seen = [node['name'] for node in got['nodes']]
    same({(seen[edge['from']], seen[edge['to']]): edge['weight'] for edge in got['edges']}, want, 'calls around a function')
    same(set(seen), {'keep'} | {name for pair in want for name in pair}, 'functions around a function')
    figures = {node['name']: (node['flat'], node['cum']) for node in whole['nodes']}
    same({node['name']: (node['flat'], node['cum']) for node in got['nodes']}, {name: figures[name] for name in seen}, 'their figures')


def check_files():
    for name in ('folded', 'csv', 'json', 'proto', 'flamegraph', 'speedscope', 'dot', 'svg'):
        status, data, answer = request('/api/export?runs=heaps&kind=heap&f=keep&format=' + name)
        same(status, 200, 'export as ' + name)
        same(data, clear('export', 'heaps', '--kind=heap', '--focus=keep', '--format=' + name, '-o', '-'), name)
        same(answer.headers['Content-Disposition'].startswith('attachment; filename="heap.'), True, 'name of ' + name)
    same(get('export', runs='heaps'), clear('export', 'heaps', '--kind=heap', '-o', '-'), 'pprof')
    same(get('graph', runs='heaps'), clear('report', '-svg', 'heaps'), 'a graph')
    same(get('graph', runs='heaps', format='dot', kind='heap'), clear('report', '-dot', '--kind=heap', 'heaps'), 'a graph in dot')
    for report in ('tags', 'raw', 'comments'):
        same(get('table', runs='heaps', report=report), clear('report', '-' + report, 'heaps'), report)
    same(get('table', runs='heaps', report='traces'), json.loads(clear('report', '-samples', 'heaps')), 'traces')


def way_of(path, pivot, inverted):
    """A stack as it goes down the tree; None: the tree does not have it."""
    if pivot and pivot not in path:
        return None
    if not pivot:
        return path[::-1] if inverted else path
    at = path.index(pivot)
    return path[:at + 1][::-1] if inverted else path[at:]


def goes_through(way, path):
    return way is not None and way[:len(path)] == path


def stacks_of(data):
    return {tuple(line.rsplit(' ', 1)[0].split(';')): int(line.rsplit(' ', 1)[1]) for line in data.decode().splitlines()}


def without_recursion(path):
    kept = []
    for name in path:
        kept = kept[:kept.index(name) + 1] if name in kept else [*kept, name]
    return tuple(kept)


def check_zoom():
    """A file of a zoomed flame graph has the stacks through the zoomed box, as sums of the folded stacks of the whole say, and their sum is its value."""
    four = ((None, 0), (None, 1), ('keep', 0), ('keep', 1))
    for words, more, orders in (([], {}, four), (['--lines'], {'g': 'lines'}, four[:1]),
                                (['--addresses', '--noinlines'], {'g': 'addresses', 'noinlines': 1}, four[1:2]), (['--hide=keep'], {'h': 'keep'}, four[:1])):
        selves = folded('heaps', '--kind=heap', *words)[1]
        for pivot, inverted in orders:
            order = {'inverted': inverted, **({'pivot': '^%s$' % pivot} if pivot else {})}
            tree = get('tree', runs='heaps', kind='heap', width=20000, **order, **more)
            found = list(nodes_of(tree).items())
            for path, i in [found[0], *found[5:200:40]]:
                box = {'runs': 'heaps', 'kind': 'heap', 'root': tree['nodes']['id'][i], **order, **more}
                want = {stack: value for stack, value in selves.items() if goes_through(way_of(stack, pivot, inverted), path)}
                got = stacks_of(get('export', format='folded', **box))
                same(got, want, 'stacks through %s, %s' % (path, box))
                same(sum(got.values()), tree['nodes']['value'][i], 'the value of %s' % (path,))
    # The other formats have the same samples; clear export finds the box by its names.
    tree = get('tree', runs='heaps', kind='heap', width=20000)
    path, i = max(nodes_of(tree).items(), key=lambda one: (len(one[0]) > 2, tree['nodes']['value'][one[1]]))
    box = {'runs': 'heaps', 'kind': 'heap', 'root': tree['nodes']['id'][i]}
    same(clear('export', 'heaps', '--kind=heap', '--format=folded', '--root=' + ';'.join(path), '-o', '-'), get('export', format='folded', **box), 'by names')
    with open('zoom.pb.gz', 'wb') as file:
        file.write(get('export', format='proto', **box))
    read = subprocess.run([CLEAR, 'report', '-folded', 'zoom.pb.gz'], stdout=subprocess.PIPE, check=True).stdout
    same(read, get('export', format='folded', **box), 'pprof of a zoom')
    table = get('export', format='json', nf='0', **box)
    same((sum(node['flat'] for node in table['nodes']), table['total']), (tree['nodes']['value'][i], tree['total']), 'functions of a zoom')
    speedscope = get('export', format='speedscope', **box)
    same(speedscope['profiles'][speedscope['activeProfileIndex']]['endValue'], tree['nodes']['value'][i], 'speedscope of a zoom')
    rows = list(csv.DictReader(get('export', format='csv', **box).decode().splitlines()))
    same(sum(int(row[next(name for name in row if name.startswith('inuse_space'))]) for row in rows), tree['nodes']['value'][i], 'csv of a zoom')
    refused(400, '/api/export?runs=heaps&kind=heap&format=folded&root=77', "no stack goes through '77'")
    refused(400, '/api/export?runs=heaps&kind=heap&format=folded&root=99999999999999999999', 'no stack goes through')
    refused(400, '/api/export?runs=heaps&kind=heap&root=1', '--format proto writes')


def check_recursion():
    """Of a graph with its recursion folded: a box stands for all calls of the function below it."""
    with open('deep.folded', 'w', encoding='ascii') as file:
        file.write('main;a;b;a;c 5\nmain;a;c 7\nmain;b 11\nmain;a 2\nother;a;c 13\n')
    clear('ingest', '--label', 'deep', 'deep.folded')
    selves = folded('deep')[1]
    tree = get('tree', runs='deep', width=20000)
    for path, i in nodes_of(tree).items():
        wanted = without_recursion(path)
        got = stacks_of(get('export', runs='deep', format='folded', fold=1, root=tree['nodes']['id'][i])) if any(
            without_recursion(stack)[:len(wanted)] == wanted for stack in selves) else {}
        same(got, {stack: value for stack, value in selves.items() if without_recursion(stack)[:len(wanted)] == wanted}, 'folded: %s' % (path,))


def check_zoomed_difference():
    """Of a difference both sides of the zoomed box; where nothing changed, a file with nothing."""
    with open('deeper.folded', 'w', encoding='ascii') as file:
        file.write('main;a;c 7\nmain;b 4\nnew;x 3\n')
    clear('ingest', '--label', 'deeper', 'deeper.folded')
    tree = get('tree', runs='deep', base='deeper', width=20000)
    nodes = tree['nodes']
    for path, i in nodes_of(tree).items():
        box = {'runs': 'deep', 'base': 'deeper', 'root': nodes['id'][i]}
        lines = [line.split(' ') for line in get('export', format='folded', **box).decode().splitlines()]
        lines = [[line[0], '0', line[-1]] if len(line) == 2 else line for line in lines]  # nothing before: as without a base
        same((sum(int(line[1]) for line in lines), sum(int(line[2]) for line in lines)), (nodes['base'][i], nodes['value'][i]), 'sides of %s' % (path,))
        same([line[0] for line in lines if tuple(line[0].split(';'))[:len(path)] != path], [], 'stacks of %s' % (path,))
        # Where it is one number, a box may have none.
        flats = [node['flat'] for node in get('export', format='json', nf='0', **box)['nodes']]
        same(sum(flats), nodes['value'][i] - nodes['base'][i], 'difference of %s' % (path,))
    refused(400, '/api/export?runs=deep&base=deeper&format=folded&root=77', "no stack goes through '77'")


def check_judgement():
    same(get('overview', runs='heaps'), json.loads(clear('doctor', '--overview', 'heaps')), 'overview')
    same(get('overview', runs='heaps', to='1h'), json.loads(clear('doctor', '--overview', '--to=1h', 'heaps')), 'overview of a part')
    same(get('findings', runs='heaps'), json.loads(clear('doctor', '--json', 'heaps')), 'findings')
    same(get('findings', runs='heaps', f='chain'), json.loads(clear('doctor', '--json', '--focus=chain', 'heaps')), 'some findings')
    whole, part = (json.loads(clear('doctor', '--json', *more, 'heaps')) for more in ([], ['--window=1']))
    same(get('findings', runs='heaps', window='1'), part, 'findings of a window')
    if part == whole:
        raise SystemExit('the first window of heaps has the findings of the whole run')
    got, want = get('compare', runs='heaps', base='waits'), json.loads(clear('doctor', 'waits', '--diff', 'heaps', '--json'))
    for side in ('old', 'new'):
        del got[side]['name'], want[side]['name']
    same(got, want, 'a comparison')


# ---- SQL

def ask(sql, query='', status=200):
    got, data, _ = request('/api/rows' + query, 'POST', sql.encode(), {'Content-Type': 'text/plain'})
    same(got, status, 'status of %s: %s' % (sql[:100], data[:300]))
    return [json.loads(line) for line in data.decode().splitlines()]


COUNTING = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n'


def check_rows():
    sql = 'SELECT id, label, started_ns, 1.5, NULL, label FROM runs ORDER BY id'
    want = sqlite3.connect('file:%s?mode=ro' % DB, uri=True).execute(sql).fetchall()
    lines = ask(sql)
    same(lines[0], {'columns': ['id', 'label', 'started_ns', '1.5', 'NULL', 'label']}, 'columns')
    same([tuple(row) for row in lines[1:-1]], want, 'rows')
    same(lines[-1], {'end': True, 'rows': len(want), 'truncated': False}, 'the last line')
    same(ask('SELECT 1 WHERE 0'), [{'columns': ['1']}, {'end': True, 'rows': 0, 'truncated': False}], 'no rows')
    same(ask(COUNTING, '?limit=3')[1:], [[1], [2], [3], {'end': True, 'rows': 3, 'truncated': True}], 'the first rows')
    same(len(ask(COUNTING)), 10002, 'rows without a limit')
    same('--timeout' in ask(COUNTING + ' WHERE i % 1000000 = 0', '?timeout=300ms')[-1]['error'], True, 'a time limit')
    for sql, words in (('DELETE FROM runs', 'only reading is allowed'), ('SELECT 1; SELECT 2', 'one statement'), ('SELEC', 'syntax error'),
                       ('SELECT * FROM nowhere', 'no such table'), ("ATTACH '/tmp/x' AS x", 'only reading is allowed'),
                       ("SELECT load_extension('x')", 'load_extension'), ('', 'the body is the SQL')):
        same(words in ask(sql, status=400)[0]['error'], True, 'refusal of %s' % sql)
    refused(413, '/api/rows', 'at most 65536 bytes', method='POST', body='-' * 65537)
    refused(405, '/api/rows', 'only POST')
    refused(403, '/api/rows', 'another site', method='POST', body='SELECT 1', headers={'Origin': 'http://example.com'})


def children():
    with open('/proc/%s/task/%s/children' % (SERVER, SERVER), encoding='ascii') as listed:
        return listed.read().split()


def check_cancel():
    """A client that goes away takes its statement with it; others are answered meanwhile."""
    host, port = HOST.split(':')
    for sql in (COUNTING + ' WHERE i < 0', COUNTING):  # nothing comes; more comes than anybody reads
        connection = socket.create_connection((host, int(port)))
        connection.sendall(('POST /api/rows?timeout=60&limit=1000000 HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\n%s'
                            % (HOST, len(sql), sql)).encode())
        while not children():
            time.sleep(0.01)
        same(len(get('runs', limit=1)), 1, 'another request meanwhile')
        connection.close()
        for _ in range(6000):
            if not children():
                break
            time.sleep(0.01)
        same(children(), [], 'statements of clients that went away')


# ---- objects and windows, from the tables

def check_objects():
    db = sqlite3.connect('file:%s?mode=ro' % DB, uri=True)
    want = db.execute("""SELECT object, sum(acquires + read_acquires), sum(contended + read_contended), sum(hold_ns)
                         FROM lock_use WHERE run_id = 2 AND profile_id IN (SELECT id FROM profiles WHERE kind = 'lock')
                         GROUP BY object""").fetchall()
    got = get('objects', runs='waits', of='lock')
    same(sorted((row['name'], row['acquires'], row['contended'], row['hold_ns']) for row in got), sorted(want), 'locks')
    same([row['wait_ns'] for row in got], sorted((row['wait_ns'] for row in got), reverse=True), 'order of locks')
    same(get('objects', runs='waits', of='lock', to='0s'), [], 'locks before the run')
    for of in ('channels', 'mvcc', 'fibers', 'wait'):
        get('objects', runs='waits', of=of)
    want = db.execute("""SELECT number, min(from_ns), max(to_ns) FROM windows WHERE run_id = 2 AND kind = 'lock'
                         GROUP BY number ORDER BY number""").fetchall()
    got = get('windows', runs='waits', kind='lock')
    same([(row['window'], row['from_ns'], row['to_ns']) for row in got], want, 'windows')
    total = sum(row['acquires'] for row in get('objects', runs='waits', of='lock'))
    same(sum(row['acquires'] for row in got), total, 'windows add up')
    names = [row[0] for row in db.execute('SELECT name FROM queries ORDER BY name')]
    same([query['name'] for query in get('queries')], names, 'saved queries')


def listed(text):
    """{line: (flat, cum)} of what `clear list` prints with a unit of 1; a dot is 0."""
    found = {}
    for line in text.splitlines():
        parts = line.split(None, 2)
        if len(parts) == 3 and parts[2].split(':')[0].isdigit():
            figures = [0 if part == '.' else int(part.rstrip('B')) for part in parts[:2]]
            if any(figures):
                found[int(parts[2].split(':')[0])] = tuple(figures)
    return found


def check_listings():
    got = get('source', runs='heaps', function='^keep$')
    want = listed(clear('list', '^keep$', '--unit=B', 'heaps').decode())
    same(len(got['functions']), 1, 'functions')
    lines = got['functions'][0]['lines']
    same({line['line']: (line['flat'], line['cum']) for line in lines if line['flat'] or line['cum']}, want, 'lines')
    same(len(want) > 1, True, 'lines with figures')
    with open(got['functions'][0]['file'], encoding='utf-8') as source:
        text = source.read().splitlines()
    same([line['text'] for line in lines], [text[line['line'] - 1] for line in lines], 'texts')
    code = get('disasm', runs='heaps', function='^keep$')
    points = {int(point['address'], 16): point['text'] for function in code['functions'] for line in function['lines']
              for point in line['instructions']}
    machine = subprocess.run(['objdump', '-d', os.environ['FIXTURES'] + '/leaks'], stdout=subprocess.PIPE, check=True).stdout.decode()
    known = {int(line.split(':')[0], 16) for line in machine.splitlines() if line.startswith(' ') and line.split(':')[0].strip().isalnum()}
    same(len(points) > 10 and set(points) <= known, True, 'addresses of instructions')
    same(sum(line['cum'] for line in code['functions'][0]['lines']), code['functions'][0]['cum'], 'lines of a function')
    same(all(line['cum'] == sum(point['cum'] for point in line['instructions']) for line in code['functions'][0]['lines']
             if line['instructions']), True, 'instructions of a line')


def check_series():
    got = get('series', runs='heaps,waits', kind='heap', function='^kept_chain$|^keep$')
    same([point['label'] for point in got], ['heaps', 'waits'], 'points, the oldest first')
    same(got[1]['tags'], {'branch': 'main'}, 'tags of a point')
    totals, selves = folded('heaps')
    met = [path for path in selves if 'keep' in path or 'kept_chain' in path]
    same((got[0]['total'], got[0]['cum'], got[0]['flat']), (totals[()], sum(selves[path] for path in met),
         sum(selves[path] for path in met if path[-1] in ('keep', 'kept_chain'))), 'a point')
    same(get('series', runs='heaps', kind='heap')[0]['cum'], totals[()], 'a point of all functions')
    same(get('changes', runs='heaps,waits', figure='alloc_count'), json.loads(clear('trend', '--json', 'alloc_count', 'heaps,waits')), 'changes')
    same(get('changes', runs='heaps,waits', figure='alloc_count', of='function k*'), json.loads(clear('trend', '--json', '--of', 'function k*', 'alloc_count', 'heaps,waits')), 'changes of a function')
    refused(400, '/api/changes?runs=heaps', 'figure=FIGURE')
    refused(400, '/api/changes?runs=heaps&figure=--accept', 'name of a column')


def check_schema():
    db = sqlite3.connect('file:%s?mode=ro' % DB, uri=True)
    want = {name: [row[1] for row in db.execute('PRAGMA table_info(%s)' % name)] for (name,) in
            db.execute("SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'")}
    got = get('schema')
    same({one['name']: [column['name'] for column in one['columns']] for one in got}, want, 'tables and columns')
    same([(one['name'], column['name']) for one in got for column in one['columns'] if not column['comment']], [], 'columns without a comment')
    runs = next(one for one in got if one['name'] == 'runs')
    started = next(column for column in runs['columns'] if column['name'] == 'started_ns')
    same((runs['type'], started['unit']), ('table', 'ns since epoch'), 'a column')


def check_refusals():
    refused(404, '/api/nothing', 'there is no /api/nothing')
    refused(404, '/api/', 'there is no')
    refused(400, '/api/table?runs=nobody', "no run 'nobody'")
    refused(400, '/api/table?runs=/etc/passwd', 'no run')
    refused(400, '/api/table?runs=http://127.0.0.1:1/', 'no run')
    refused(400, '/api/table?f=(', 'missing closing parenthesis')
    refused(400, '/api/table?colour=red', "unknown parameter 'colour'")
    refused(400, '/api/table?n=1&n=2', 'given twice')
    refused(400, '/api/table?g=atoms', 'one of: functions')
    refused(400, '/api/table?norm=2', '0 or 1')
    refused(400, '/api/table?report=svg', 'one of: top')
    refused(400, '/api/table?report=peek', 'needs function')
    refused(400, '/api/compare?runs=heaps', 'needs base')
    refused(400, '/api/source?runs=heaps', 'function=REGEX is missing')
    refused(400, '/api/source?runs=heaps&function=nobody', "no function matches 'nobody'")
    refused(400, '/api/disasm?runs=heaps&function=(', 'missing closing parenthesis')
    refused(400, '/api/disasm?runs=heaps&function=nobody', 'no matches found for regexp: nobody')
    refused(400, '/api/series?runs=heaps&base=waits', 'no base')
    refused(400, '/api/compare?runs=heaps&base=heaps', 'the same run')
    refused(400, '/api/objects?runs=heaps&of=chairs', 'one of: lock')
    # A part of a run is read alike everywhere.
    for path in ['/api/objects?runs=heaps&of=lock', '/debug/pprof/heap?run=heaps', '/api/findings?runs=heaps', '/api/table?runs=heaps']:
        refused(400, path + '&window=0', 'window 0 is out of range')
        refused(400, path + '&from=10x', "from must be a number such as 0.5, 250ms or 2m, not '10x'")
    refused(400, '/api/windows?runs=heaps,waits', 'one run')
    refused(400, '/api/export?runs=heaps&format=docx', 'no format is called')
    refused(400, '/api/table?f=%zz', 'URL encoding')
    refused(400, '/api/table?runs=heaps&kind=' + 'x' * 300, 'has no ' + 'x' * 30)
    for resource in ('table?', 'tree?', 'graph?', 'source?function=main&', 'disasm?function=main&', 'series?', 'export?'):
        refused(400, f'/api/{resource}runs=heaps&kind=channels', 'has no channels profile; it has: ')
    refused(404, '/api/tree?root=77', 'no node 77')
    refused(400, '/api/tree?width=0', 'width')
    refused(404, '/web/../../../etc/passwd', 'not found')
    refused(405, '/api/runs', 'only GET', method='POST', body='x')
    refused(403, '/api/runs', 'another site', headers={'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'cors'})
    refused(403, '/api/runs', 'another site', headers={'Origin': 'http://example.com'})
    refused(403, '/api/runs', 'not a name of this server', headers={'Host': 'example.com'})
    refused(414, '/api/table?f=' + 'x' * 9000, 'longer than')


check_commands()
check_trees()
check_search()
check_difference()
check_peek()
check_files()
check_zoom()
check_judgement()
check_rows()
check_cancel()
check_objects()
check_listings()
check_series()
check_schema()
check_cache()
check_refusals()
check_recursion()  # adds a run
check_zoomed_difference()
print('%d checks' % checks)
