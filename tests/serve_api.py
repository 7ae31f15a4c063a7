"""serve_api.py URL DB: answers of the API of clear serve against the commands, and against sums of folded stacks made here."""
import http.client
import json
import os
import subprocess
import sys
import urllib.parse

CLEAR = os.environ['CLEAR']
HOST, DB = urllib.parse.urlsplit(sys.argv[1]).netloc, sys.argv[2]
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
    refused(400, '/api/table?f=%zz', 'URL encoding')
    refused(500, '/api/table?runs=heaps&kind=' + 'x' * 300, 'has no ' + 'x' * 30)
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
check_difference()
check_refusals()
print('%d checks' % checks)
