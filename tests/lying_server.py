"""A server between clear and PostgreSQL that changes one answer:   lying_server.py SOCKET_DIRECTORY REAL_DIRECTORY COMMAND...
Each line of standard input is "HOW N": the N-th answer with rows of the next connection is changed so; then COMMAND runs, and its
status is a line of standard output. What is changed: its values are none (null), words, other numbers, lists that are none or 8 MiB long
(huge); it has each row twice, no rows (none), or a column too few (fewer) or too many (more); it is an error, or the connection ends instead of it (cut).
Of a connection that writes: it ends when the N-th COPY has begun (copy), when COMMIT was asked for (before-commit), or when that was done and before
it is said (after-commit)."""
import os, socket, struct, subprocess, sys, threading

def read(stream, size):
    data = b''
    while len(data) < size:
        piece = stream.recv(size - len(data))
        if not piece: raise EOFError
        data += piece
    return data

def row(values):
    body = struct.pack('>h', len(values)) + b''.join(struct.pack('>i', -1) if v is None else struct.pack('>i', len(v)) + v for v in values)
    return b'D' + struct.pack('>i', len(body) + 4) + body

def values_of(body):
    count, at, values = struct.unpack('>h', body[:2])[0], 2, []
    for _ in range(count):
        size = struct.unpack('>i', body[at:at + 4])[0]
        at += 4
        values.append(None if size < 0 else body[at:at + size])
        at += max(size, 0)
    return values

def other(value): # another number of the same length, another letter
    return value if not value else value[:-1] + (b'7' if value[-1:] != b'7' else b'3')

def change(how, body):
    values = values_of(body)
    if how == 'huge': return row([b'7' * (8 << 20)] * len(values))
    if how == 'fewer': return row(values[:-1])
    if how == 'more': return row(values + [b'1'])
    if how == 'error':
        fields = b'SERROR\0C57P01\0Mthe server lies\0\0'
        return b'E' + struct.pack('>i', len(fields) + 4) + fields
    if how == 'null': return row([None] * len(values))
    if how == 'words': return row([b'../../words'] * len(values))
    if how == 'other': return row([None if v is None else other(v) for v in values])
    if how == 'lists': return row([b'{1,2,x}'] * len(values))
    if how == 'twice': return row(values) * 2
    if how == 'none': return b''

ENDS = ('copy', 'before-commit', 'after-commit')

def answers(real, client, how, number):
    seen, copies, is_row, is_wrong = 0, 0, False, False
    try:
        while True:
            head = read(real, 5)
            body = read(real, struct.unpack('>i', head[1:])[0] - 4)
            if how == 'copy' and head[:1] == b'G':
                copies += 1
                if copies == number: break
            if how == 'after-commit' and head[:1] == b'C' and body == b'COMMIT\0': break
            if head[:1] == b'D':
                if not is_row: seen += 1
                is_row = True
                if seen == number and how == 'cut': break
                is_error = seen == number and how == 'error'
                if not (is_error and is_wrong): client.sendall(change(how, body) if seen == number and how not in ENDS else head + body)
                is_wrong |= is_error
            else:
                if head[:1] in b'CTZ': is_row = False
                if not (is_wrong and head[:1] == b'C'): client.sendall(head + body) # an error takes the place of the end
                if head[:1] == b'Z': is_wrong = False
    except (EOFError, OSError):
        pass
    for stream in real, client:
        try: stream.shutdown(socket.SHUT_RDWR)
        except OSError: pass

def serve(client, real_path, how, number):
    real = socket.socket(socket.AF_UNIX)
    real.connect(real_path)
    threading.Thread(target=answers, args=(real, client, how, number), daemon=True).start()
    try:
        while True:
            data = client.recv(65536)
            if not data or (how == 'before-commit' and b'COMMIT\0' in data): break
            real.sendall(data)
    except OSError:
        pass
    for stream in (real, client) if how == 'before-commit' else (real,):
        try: stream.shutdown(socket.SHUT_WR)
        except OSError: pass

place, real_directory, command = sys.argv[1], sys.argv[2], sys.argv[3:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(place + '/.s.PGSQL.5432')
listener.listen(8)
wish = ['twice', 0]

def accept():
    while True:
        client = listener.accept()[0]
        threading.Thread(target=serve, args=(client, real_directory + '/.s.PGSQL.5432', wish[0], wish[1]), daemon=True).start()

threading.Thread(target=accept, daemon=True).start()
for line in sys.stdin:
    wish[:] = line.split()[0], int(line.split()[1])
    done = subprocess.run(command, env=dict(os.environ, PGHOST=place), capture_output=True, timeout=60)
    print(line.strip(), done.returncode, done.stderr.decode(errors='replace').strip().replace('\n', ' ')[:200], flush=True)
