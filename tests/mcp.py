"""mcp.py DIRECTORY: a client of the Model Context Protocol made from its specification, revisions 2025-11-25 and 2026-07-28, and what it asks clear mcp
about the warehouse of DIRECTORY (tests/mcp.sh makes it)."""
import json
import os
import select
import signal
import subprocess
import sys
import time

CLEAR, BASE = os.environ['CLEAR'], sys.argv[1]
MODERN = '2026-07-28'
META = {'io.modelcontextprotocol/protocolVersion': MODERN, 'io.modelcontextprotocol/clientInfo': {'name': 'tests', 'version': '1'},
        'io.modelcontextprotocol/clientCapabilities': {}}
TOOLS = ['runs', 'doctor', 'top', 'source', 'query', 'diff', 'gate']
PATIENCE = 100  # seconds, in which every answer comes
checks = 0


def check(condition, *what):
    global checks
    checks += 1
    if not condition:
        raise AssertionError(' '.join(str(part)[:3000] for part in what))


class Client:
    def __init__(self, *options, **popen):
        self.process = subprocess.Popen([CLEAR, 'mcp', '--directory', BASE, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **popen)
        self.number, self.pending = 0, b''

    def write(self, data):
        data = memoryview(data)
        while data:
            data = data[self.process.stdin.write(data):]

    def send(self, message):
        self.write(json.dumps(message).encode() + b'\n')

    def line(self):
        """The next message of the server."""
        while b'\n' not in self.pending:
            check(select.select([self.process.stdout], [], [], PATIENCE)[0], 'no answer')
            more = os.read(self.process.stdout.fileno(), 65536)
            check(more, 'the server has gone:', self.pending)
            self.pending += more
        line, self.pending = self.pending.split(b'\n', 1)
        message = json.loads(line.decode())
        check(message['jsonrpc'] == '2.0' and ('result' in message) != ('error' in message), message)
        check(set(message) <= {'jsonrpc', 'id', 'result', 'error'}, message)
        if 'error' in message:
            check(type(message['error']['code']) is int and type(message['error']['message']) is str, message)
        return message

    def request(self, method, params=None, id=None):
        self.number += 1
        message = {'jsonrpc': '2.0', 'id': self.number if id is None else id, 'method': method}
        if params is not None:
            message['params'] = params
        self.send(message)
        answer = self.line()
        check(answer.get('id') == message['id'], 'another id:', message, answer)
        return answer

    def ask(self, method, **params):
        """A request of the revision without sessions."""
        answer = self.request(method, {'_meta': META, **params})
        if 'result' in answer:
            result = answer['result']
            check(result['resultType'] == 'complete', result)
            check(result['_meta']['io.modelcontextprotocol/serverInfo']['name'] == 'clear', result)
        return answer

    def result(self, method, **params):
        answer = self.ask(method, **params)
        check('result' in answer, answer)
        return answer['result']

    def refused(self, code, method, **params):
        answer = self.ask(method, **params)
        check(answer.get('error', {}).get('code') == code, method, params, answer)
        return answer['error']

    def call(self, name, **arguments):
        """The text and the structure of a tool's answer."""
        result = self.result('tools/call', name=name, arguments=arguments)
        check(result['isError'] is False, name, arguments, result['content'])
        check([part['type'] for part in result['content']] == ['text'], result['content'])
        structured = result['structuredContent']
        check(type(structured['truncated']) is bool, structured)
        check(('[cut: ' in result['content'][0]['text']) == structured['truncated'], name, result)
        for step in structured['next']:
            check(step['tool'] in TOOLS and set(step) == {'tool', 'arguments', 'why'}, step)
            check('next: %s ' % step['tool'] in result['content'][0]['text'], step)
        return result['content'][0]['text'], structured

    def wrong(self, words, name, **arguments):
        """What is wrong with arguments is said in a result, for the model."""
        result = self.result('tools/call', name=name, arguments=arguments)
        check(result['isError'] is True and 'structuredContent' not in result, name, arguments, result)
        check(words in result['content'][0]['text'], words, result['content'])

    def close(self, status=0):
        self.process.stdin.close()
        self.ended(status)

    def ended(self, status=0):
        check(self.process.wait(PATIENCE) == status, 'status', self.process.returncode)
        check(self.process.stdout.read() == b'' and not self.pending, 'more was said')
        self.process.stdout.close()


def clear(*words):
    done = subprocess.run([os.environ['PLAIN_CLEAR'], *words], cwd=BASE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    check(done.returncode == 0, words, done.stderr)
    return json.loads(done.stdout)


def children(pid):
    with open('/proc/%d/task/%d/children' % (pid, pid), encoding='ascii') as file:
        return file.read().split()


def wait_until(what, condition):
    for _ in range(PATIENCE * 50):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError('waited in vain: ' + what)


# ---- handshakes

def check_initialize():
    client = Client()
    about = {'capabilities': {}, 'clientInfo': {'name': 'tests', 'version': '1'}}
    check(client.request('ping')['result'] == {}, 'a ping before the handshake')
    check(client.request('tools/list')['error']['code'] == -32602, 'a list before the handshake')
    check(client.request('initialize', {'protocolVersion': '2025-11-25'})['error']['code'] == -32602, 'half a handshake')
    result = client.request('initialize', {'protocolVersion': '2025-11-25', **about})['result']
    check(result['protocolVersion'] == '2025-11-25' and set(result['capabilities']) == {'tools', 'resources'}, result)
    check(result['serverInfo']['name'] == 'clear' and result['serverInfo']['version'], result)
    check('never instructions' in result['instructions'], result)
    client.send({'jsonrpc': '2.0', 'method': 'notifications/initialized'})
    client.send({'jsonrpc': '2.0', 'method': 'notifications/roots/list_changed'})
    client.send({'jsonrpc': '2.0', 'method': 'no/such/notification', 'params': {'x': 1}})
    client.send({'jsonrpc': '2.0', 'id': 'of nobody', 'result': {}})
    check(client.request('ping', id='text "id" \u20ac')['result'] == {}, 'ping')
    listed = client.request('tools/list', {})['result']
    check([tool['name'] for tool in listed['tools']] == TOOLS and set(listed) == {'tools'}, listed)
    called = client.request('tools/call', {'name': 'runs', 'arguments': {'limit': 1}})['result']
    check(set(called) == {'content', 'structuredContent', 'isError'}, called)
    check(client.request('tools/call', {'name': 'runs'})['result']['isError'] is False, 'arguments may be missing')
    check(client.request('resources/read', {'uri': 'clear://nothing'})['error']['code'] == -32002, 'the code of 2025-11-25')
    check(client.request('resources/list')['result']['resources'], 'resources')
    for asked, got in (('2025-06-18', '2025-06-18'), ('2024-11-05', '2024-11-05'), ('2025-03-26', '2025-11-25'), ('1999-01-01', '2025-11-25')):
        check(client.request('initialize', {'protocolVersion': asked, **about})['result']['protocolVersion'] == got, asked)
    client.close()


def check_discover():
    client = Client()
    result = client.result('server/discover')
    check(result['supportedVersions'][:2] == [MODERN, '2025-11-25'] and set(result['capabilities']) == {'tools', 'resources'}, result)
    check(type(result['ttlMs']) is int and result['cacheScope'] in ('public', 'private') and result['instructions'], result)
    check(client.request('server/discover')['error']['code'] == -32602, 'without _meta')
    check(client.request('server/discover', {'_meta': {**META, 'io.modelcontextprotocol/clientCapabilities': 1}})['error']['code'] == -32602, 'abilities')
    check(client.request('tools/list', {'_meta': {'io.modelcontextprotocol/protocolVersion': MODERN}})['error']['code'] == -32602, 'no abilities')
    check(client.request('tools/list', {'_meta': {**META, 'io.modelcontextprotocol/protocolVersion': 7}})['error']['code'] == -32602, 'a number')
    other = client.request('tools/list', {'_meta': {**META, 'io.modelcontextprotocol/protocolVersion': '1900-01-01'}})['error']
    check(other['code'] == -32022 and other['data']['requested'] == '1900-01-01' and MODERN in other['data']['supported'], other)
    check(client.ask('initialize', protocolVersion='2025-11-25', capabilities={}, clientInfo={})['error']['code'] == -32601, 'both at once')
    check(client.ask('ping')['result']['resultType'] == 'complete', 'ping')
    client.close()


def check_lists():
    import jsonschema
    client = Client()
    listed = client.result('tools/list')
    check(listed == client.result('tools/list') and 'nextCursor' not in listed and 'ttlMs' in listed, 'the list is the same each time')
    check([tool['name'] for tool in listed['tools']] == TOOLS, listed)
    for tool in listed['tools']:
        for schema in (tool['inputSchema'], tool['outputSchema']):
            jsonschema.Draft202012Validator.check_schema(schema)
        check(tool['inputSchema']['additionalProperties'] is False and tool['description'] and tool['title'], tool)
        check(tool['annotations']['readOnlyHint'] is True, tool)
    schemas = {tool['name']: tool['outputSchema'] for tool in listed['tools']}
    jsonschema.validate(client.call('doctor')[1], schemas['doctor'])
    client.refused(-32602, 'tools/list', cursor='x')
    client.refused(-32602, 'resources/list', cursor='x')
    resources = client.result('resources/list')['resources']
    check([one['uri'] for one in resources] == ['clear://views', 'clear://schema', 'clear://advice'], resources)
    templates = client.result('resources/templates/list')['resourceTemplates']
    check([one['uriTemplate'] for one in templates] == ['clear://schema/{name}', 'clear://advice/{name}'], templates)
    texts = {}
    for uri in ('clear://views', 'clear://schema', 'clear://advice', 'clear://schema/heap', 'clear://advice/lock-hot-long'):
        result = client.result('resources/read', uri=uri)
        check(result['contents'][0]['uri'] == uri and type(result['ttlMs']) is int, uri)
        texts[uri] = result['contents'][0]['text']
    check('\nheap (view): ' in texts['clear://views'], texts['clear://views'])
    check(json.loads(texts['clear://schema']) == clear('schema', '--json'), 'the schema')
    check('CREATE VIEW heap' in texts['clear://schema/heap'] and '-- ' in texts['clear://schema/heap'], texts['clear://schema/heap'])
    check('lock-hot-long' in {row['code'] for row in json.loads(texts['clear://advice'])}, 'the advice')
    check('Unlock' in texts['clear://advice/lock-hot-long'], texts['clear://advice/lock-hot-long'])
    for uri in ('clear://schema/', 'clear://schema/../heap', 'clear://schema/--json', 'clear://schema/nothing', 'clear://x', 'file:///etc/passwd', ''):
        client.refused(-32602, 'resources/read', uri=uri)
    client.refused(-32602, 'resources/read')
    client.close()


# ---- tools

def check_tools():
    client = Client()
    text, runs = client.call('runs')
    check([run['label'] for run in runs['runs']] == ['after', 'before'], runs)
    check(text.startswith('2 runs, newest first\nrun 2 labelled "after": "'), text)
    check(client.call('runs', limit=1)[1]['truncated'] is True, 'cut')
    check(client.call('runs', label='before')[1]['runs'][0]['run_id'] == 1, 'label')
    check(client.call('runs', search='nowhere')[0].startswith('no such run'), 'no run')

    text, doctor = client.call('doctor', run='after')
    overview = clear('doctor', '--overview', 'after')
    check(doctor['findings'][0]['text'] == overview['findings'][0]['text'] and doctor['run_id'] == 2, doctor)
    first = doctor['findings'][0]
    check(first['section'] == 'heap' and first['code'] == 'quadratic-growth' and first['evidence']['alloc_count'] == 40000, first)
    check(any(place['text'].startswith('fault_quadratic.c:') for place in first['places']), first)
    check(text.index('fault_quadratic.c:') < text.index('figures: ') < text.index('advice: "'), text)
    check(client.call('doctor', limit=1)[1]['truncated'] == (doctor['findings_in_all'] > 1), 'cut')

    text, top = client.call('top', run='after', kind='heap', type='alloc_space', sort='cum', limit=2)
    report = clear('report', '-json', '--kind=heap', '--sample_index=alloc_space', '--cum', 'after')
    check([row['name'] for row in top['rows']] == [node['name'] for node in report['nodes'][:2]] and top['truncated'], top)
    check(top['total'] == report['total'] > 0 and top['unit'] == 'bytes', top)
    check(client.call('top', by='lines', kind='heap', type='alloc_space')[1]['rows'][0]['line'] > 0, 'lines')
    check(client.call('top', kind='heap', focus='nothing_of_that_name')[1]['total'] >= 0, 'nothing matches')

    text, source = client.call('source', function='^grow$', run='after', kind='heap', type='alloc_space')
    listing = clear('report', '-source=^grow$', '--kind=heap', '--sample_index=alloc_space', 'after')
    lines = {line['line']: line for line in listing['functions'][0]['lines']}
    check(source['line']['text'].strip() == 'text.data = realloc(text.data, text.capacity);', source)
    check(lines[source['line']['line']]['flat'] == source['line']['flat'] > 0, source)
    check(text.startswith('the line that costs most: "'), text)

    text, rows = client.call('query', sql='SELECT id, label, NULL AS none FROM runs ORDER BY id', limit=1)
    check(rows['columns'] == ['id', 'label', 'none'] and rows['rows'] == [[1, 'before', None]] and rows['truncated'], rows)
    check(client.call('query', sql='SELECT :x AS x, :run AS run', parameters={'x': 1.5, 'run': 'before'})[1]['rows'] == [[1.5, 1]], 'parameters')
    check(client.call('query', sql='@hot-sites', parameters={'top': 1})[1]['columns'][0] == 'trace_id', 'a saved query')
    check(client.call('query', sql='SELECT 1 WHERE 0')[1]['rows'] == [], 'no rows')

    text, diff = client.call('diff', base='before', run='after')
    check(diff['old']['runs'] == [1] and diff['new']['runs'] == [2], diff)
    compared = clear('doctor', 'before', '--json', '--diff', 'after')
    check(diff['changes_in_all'] == sum(
        1 for row in compared['rows'] for name, figure in row['figures'].items()
        if figure['is_change'] and (row['section'] == 'totals' or (row['is_change'] and name == row['judged_by']))), diff)
    check(client.call('diff', base='inside.folded', run='before')[1]['old']['runs'] == [None], 'a file below the base directory')

    text, gate = client.call('gate', base='before', run='after')
    check(gate['verdict'] in ('pass', 'fail', 'undecided') and text.startswith(gate['verdict'] + ': "after"'), gate)
    check(gate['rows_in_all'] == len(clear('gate', '--json', 'after', '--base', 'before')['rows']) if gate['verdict'] == 'pass' else True, gate)
    check(client.call('gate', base='before', run='inside.folded')[1]['set']['name'] == 'inside.folded', 'a file')
    client.close()


def check_wrong():
    client = Client()
    client.wrong('must be an integer from 1 to 200', 'runs', limit=0)
    client.wrong('must be an integer', 'runs', limit='1')
    client.wrong('must be an integer', 'runs', limit=1.5)
    client.wrong('must be an integer', 'runs', limit=10 ** 30)
    client.wrong("has no argument 'lines'", 'top', lines=3)
    client.wrong('must be a string', 'doctor', run=1)
    client.wrong('must be a string', 'doctor', run=None)
    client.wrong('is one of: flat cum', 'top', sort='flatcum')
    client.wrong('is one of: flat cum', 'top', sort='')
    client.wrong('needs the argument function', 'source')
    check('NUL' in client.refused(-32602, 'tools/call', name='source', arguments={'function': 'a\0b'})['message'], 'a NUL')
    client.wrong('more than 64 KiB', 'query', sql='SELECT ' + '1+' * 40000 + '1')
    client.wrong('must be an object', 'query', sql='SELECT 1', parameters=[1])
    client.wrong('no name of a parameter', 'query', sql='SELECT 1', parameters={'--db': 'x'})
    client.wrong('must be a string or a number', 'query', sql='SELECT 1', parameters={'x': []})
    client.wrong('no run', 'doctor', run='nobody')
    client.wrong('function', 'source', function='no_such_function')
    client.wrong('missing', 'source', function='(')
    client.wrong('syntax error', 'query', sql='SELEC 1')
    client.wrong('', 'query', sql='DELETE FROM runs')
    client.wrong('', 'query', sql="ATTACH 'x.sqlite' AS x")
    client.wrong('', 'query', sql="SELECT readfile('/etc/passwd')")
    client.wrong('1.0 MiB', 'query', sql="SELECT printf('%.2000000c', 'x')")
    client.wrong('1 s', 'query', sql='WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n', timeout_s=1)
    for run in ('-', '--help', '/etc/passwd', '../outside/other.folded', './link.folded', 'link.folded', 'before,../outside/other.folded', './nothing',
                '~/x', 'http://127.0.0.1:1/x', 'after,https://example.com/x'):
        client.wrong('error: "', 'doctor', run=run)
        client.wrong('error: "', 'diff', base=run)
        client.wrong('error: "', 'query', sql='SELECT :run', parameters={'run': run})
    check('Unknown tool' in client.refused(-32602, 'tools/call', name='rm')['message'], 'an unknown tool')
    check('--allow-profile' in client.refused(-32602, 'tools/call', name='profile', arguments={'command': ['true']})['message'], 'profile')
    client.refused(-32602, 'tools/call')
    client.refused(-32602, 'tools/call', name=7)
    client.refused(-32602, 'tools/call', name='runs', arguments=[])
    client.refused(-32602, 'tools/call', name='runs', arguments='x')
    client.refused(-32601, 'prompts/list')
    client.refused(-32601, 'tools')
    client.refused(-32601, '')
    client.close()


def check_messages():
    """What is no request: JSON-RPC's own errors. After each the server goes on."""
    client = Client()
    ping = {'jsonrpc': '2.0', 'id': 1, 'method': 'ping'}
    for line, code, id in (
            (b'{', -32700, None), (b'nonsense', -32700, None), (b'{"jsonrpc":"2.0","id":1,"method":"ping",}', -32700, None),
            (b"{'jsonrpc':'2.0'}", -32700, None), (b'\xff\xfe', -32700, None), (b'{"a":"\x00"}', -32700, None), (b'[' * 5000, -32700, None),
            (b'[]', -32600, None), (json.dumps([ping]).encode(), -32600, None), (b'7', -32600, None), (b'null', -32600, None), (b'{}', -32600, None),
            (b'{"id":1,"method":"ping"}', -32600, 1), (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":1}', -32600, 1), (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600, 1),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None), (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, None),
            (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, None), (b'{"jsonrpc":"2.0","id":1,"method":"ping\\u0000"}', -32602, 1),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32602, 1), (b'{"jsonrpc":"2.0","id":1,"method":"pong"}', -32601, 1)):
        client.write(line + b'\n')
        answer = client.line()
        check(answer['error']['code'] == code and answer.get('id') == id, line[:100], answer)
    for id in (0, -5, 12345678901234567890, '', 'x' * 1000, '\x01\u2028'):
        check(client.request('ping', id=id)['result'] == {}, id)
    client.write(b'\n\r\n  \n' + json.dumps(ping).encode() + b'\r\n')
    check(client.line()['id'] == 1, 'blank lines, and a line with CR')
    for piece in json.dumps(ping).encode() + b'\n':  # one byte at a time
        client.write(bytes([piece]))
    check(client.line()['id'] == 1, 'in pieces')
    client.write(json.dumps(ping).encode() + b'\n' + json.dumps({**ping, 'id': 2}).encode() + b'\n' + json.dumps(ping).encode()[:20])
    check([client.line()['id'], client.line()['id']] == [1, 2], 'two in a piece')
    client.close()  # in the middle of a line


def check_long_lines():
    client = Client()
    ping = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'ping', 'params': {'x': '%s'}}).encode()
    client.write(ping % (b'a' * 1000000) + b'\n')
    check(client.line()['result'] == {}, 'nearly 1 MiB')
    client.write(ping % (b'a' * 10000000) + b'\n')
    check(client.line()['error']['code'] == -32600, '10 MB')
    check(client.request('ping')['result'] == {}, 'the server goes on')
    for _ in range(64):  # a body that never ends: refused once, and not kept
        client.write(b'x' * (1 << 20))
    check(client.line()['error']['code'] == -32600, 'without end')
    with open('/proc/%d/status' % client.process.pid, encoding='ascii') as file:
        memory = [int(line.split()[1]) for line in file if line.startswith('VmRSS')][0]
    if 'asan' not in CLEAR:
        check(memory < 100 << 10, 'memory', memory)
    client.write(b'\n')
    check(client.request('ping')['result'] == {}, 'the server goes on')
    client.close()


FOREVER = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'


def send_forever(client, id):
    client.send({'jsonrpc': '2.0', 'id': id, 'method': 'tools/call',
                 'params': {'_meta': META, 'name': 'query', 'arguments': {'sql': FOREVER, 'timeout_s': 60}}})


def check_cancel():
    client = Client()
    pid = client.process.pid
    send_forever(client, 'slow')
    wait_until('the query begins', lambda: children(pid))
    check(client.request('ping')['result'] == {}, 'others are answered meanwhile')
    check(client.request('ping', id='slow')['error']['code'] == -32600, 'an id that is in use')
    for params in ({'requestId': 'another'}, {'requestId': 7}, {'requestId': None}, {}, {'requestId': ['slow']}):
        client.send({'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': params})
    check(client.request('ping')['result'] == {} and children(pid), 'it goes on')
    client.send({'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'slow', 'reason': 'enough'}})
    wait_until('the query ends', lambda: not children(pid))
    check(client.request('ping', id='slow')['result'] == {}, 'no answer, and the id is free')
    # More than run at a time, and more than wait.
    for i in range(40):
        send_forever(client, i + 100)
    refused = [client.line() for _ in range(8)]
    check(sorted(answer['id'] for answer in refused) == list(range(132, 140)) and {answer['error']['code'] for answer in refused} == {-32603}, refused)
    wait_until('four run', lambda: len(children(pid)) == 4)
    for i in range(32):
        client.send({'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': i + 100}})
    wait_until('none runs', lambda: not children(pid))
    check(client.call('runs')[1]['runs'], 'the server goes on')
    client.close()


def check_gone():
    """Clients that go away: what they asked ends with them."""
    client = Client()  # that reads nothing any more, and closes both
    send_forever(client, 1)
    wait_until('the query begins', lambda: children(client.process.pid))
    client.process.stdout.close()
    client.process.stdin.close()
    check(client.process.wait(PATIENCE) == 0, 'status')

    client = Client()  # SIGTERM
    send_forever(client, 1)
    wait_until('the query begins', lambda: children(client.process.pid))
    child = children(client.process.pid)[0]
    client.process.send_signal(signal.SIGTERM)
    client.ended()
    wait_until('the query ends too', lambda: not os.path.exists('/proc/' + child))
    client.process.stdin.close()

    client = Client()  # what was asked before the end of the input is answered
    for i in range(5):
        client.send({'jsonrpc': '2.0', 'id': i, 'method': 'tools/call', 'params': {'_meta': META, 'name': 'runs', 'arguments': {}}})
    client.process.stdin.close()
    check(sorted(client.line()['id'] for _ in range(5)) == list(range(5)), 'five answers')
    client.ended()

    client = Client()  # that asks much, 2 MB and more requests than are answered at a time, and reads late
    for i in range(6):
        client.send({'jsonrpc': '2.0', 'id': i, 'method': 'resources/read', 'params': {'_meta': META, 'uri': 'clear://schema'}})
    check(sorted(client.line()['id'] for _ in range(6)) == list(range(6)), 'six answers')
    client.close()

    with open('/dev/full', 'wb') as full:
        process = subprocess.run([CLEAR, 'mcp', '--directory', BASE], input=b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n', stdout=full, check=False)
    check(process.returncode == 0, 'an output that takes nothing')


# ---- what profiles say

def check_names():
    client = Client('--db', 'evil.sqlite')
    for name, arguments in (('runs', {}), ('doctor', {}), ('top', {}), ('source', {'function': 'main'}), ('query', {'sql': 'SELECT name FROM functions'}),
                            ('diff', {'base': 'evil.pb.gz', 'run': 'inside.folded'})):
        text = client.call(name, **arguments)[0]
        check('\x1b' not in text and '\nIgnore' not in text and '\n[2J' not in text, name, repr(text))
        for line in text.split('\n'):
            if 'gnore' in line and not line.startswith('next: '):
                check(line.count('"') >= 2 and line.index('"') < line.index('gnore'), name, repr(line))
    text, source = client.call('source', function='main')
    check('secret_line' not in json.dumps(source) and 'no source: "' in text, text)
    # What is no UTF-8 becomes U+FFFD: of a table that another program wrote, and of a client's own words.
    check(client.call('runs')[1]['runs'][0]['tags'] == {'odd\ufffd': 'value\ufffd'}, 'a tag')
    text, rows = client.call('query', sql="SELECT id, '\ud800' AS text FROM (SELECT 1 AS id UNION SELECT 2)", limit=1)
    check(rows['rows'] == [[1, '\ufffd' * 3]] and "'\ufffd\ufffd\ufffd'" in rows['next'][0]['arguments']['sql'], text, rows)
    client.close()


# ---- programs

def check_profile():
    client = Client('--allow-profile')
    listed = client.result('tools/list')['tools']
    check([tool['name'] for tool in listed] == TOOLS + ['profile'] and listed[-1]['annotations']['readOnlyHint'] is False, listed)
    text, run = client.call('profile', command=['./program'], label='again')
    check(run['ending'].startswith('exit status 0') and run['findings'][0]['code'] == 'quadratic-growth', run)
    check(client.call('runs', label='again')[1]['runs'][0]['uuid'] == run['uuid'], 'the run is there')
    text, run = client.call('profile', command=['sh', '-c', 'pwd; seq 100000; echo wrong >&2; exit 3'])
    check(run['ending'].startswith('exit status 3; its output ends with "') and '100000\\n"' in run['ending'] and '"wrong\\n"' in run['ending'], run)
    check(client.call('profile', command=['sh', '-c', 'test "$(pwd -P)" = "$0"', os.path.realpath(BASE)])[1]['ending'] == 'exit status 0', 'the directory')
    check(client.call('profile', command=['cat'])[1]['ending'] == 'exit status 0', 'no input')
    # Its time may be over before it begins, where a machine is very busy.
    stopped = client.result('tools/call', name='profile', arguments={'command': ['sleep', '1000'], 'timeout_s': 1})
    check(('ended by signal 15' if stopped['isError'] else 'stopped after 1 s') in stopped['content'][0]['text'], stopped)
    client.wrong('no-such-program', 'profile', command=['./no-such-program'])
    client.wrong('is empty', 'profile', command=[])
    client.wrong('must be an array of strings', 'profile', command='true')
    client.wrong('must be an array of strings', 'profile', command=['true', 1])
    client.wrong('more than 48', 'profile', command=['true'] * 49)
    client.wrong('needs the argument command', 'profile')

    # Cancelled, it is told to end and its run is stored.
    before = client.call('query', sql='SELECT max(id) FROM runs')[1]['rows'][0][0]
    client.send({'jsonrpc': '2.0', 'id': 'long', 'method': 'tools/call',
                 'params': {'_meta': META, 'name': 'profile', 'arguments': {'command': ['sleep', '1000'], 'label': 'cancelled'}}})
    pid = client.process.pid
    wait_until('it is recorded', lambda: client.call('runs', search='cancelled')[1]['runs'])
    client.send({'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'long'}})
    wait_until('it ends', lambda: not children(pid))
    run = client.call('query', sql='SELECT id, exit_signal, flags FROM runs ORDER BY id DESC LIMIT 1')[1]['rows'][0]
    check(run == [before + 1, signal.SIGTERM, ''], run)

    # And so it is when the client goes.
    client.send({'jsonrpc': '2.0', 'id': 'last', 'method': 'tools/call',
                 'params': {'_meta': META, 'name': 'profile', 'arguments': {'command': ['sleep', '1000'], 'label': 'left'}}})
    wait_until('it is recorded', lambda: client.call('runs', search='left')[1]['runs'])
    client.close()
    check(clear('query', '--format', 'json', 'SELECT exit_signal FROM runs ORDER BY id DESC LIMIT 1') == [{'exit_signal': signal.SIGTERM}], 'stored')


# ---- from "it is slow" to the line

def check_tour():
    """Four calls, each made of what the one before said to ask next."""
    client = Client()

    def follow(structured, tool):
        step = next(step for step in structured['next'] if step['tool'] == tool)
        return client.call(tool, **step['arguments'])

    text, answer = client.call('runs', label='after')
    text, answer = follow(answer, 'doctor')
    check('heap quadratic-growth, grow, at fault_quadratic.c:' in text and 'Keep a capacity beside the length' in text, text)
    text, answer = follow(answer, 'source')
    line = answer['line']
    check(line['file'].endswith('src/fault_quadratic.c') and line['function'] == 'grow', line)
    check(line['text'].strip() == 'text.data = realloc(text.data, text.capacity);', line)
    text, answer = follow(answer, 'top')
    check('"grow"' in text and '"main"' in text, text)
    client.close()


check_initialize()
check_discover()
check_lists()
check_tools()
check_tour()
check_wrong()
check_messages()
check_long_lines()
check_cancel()
check_gone()
check_names()
check_profile()
print('%d checks' % checks)
