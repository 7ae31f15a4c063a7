"""A server between clear and PostgreSQL that changes one answer:   lying_server.py SOCKET_DIRECTORY REAL_DIRECTORY COMMAND...
Each line of standard input is "HOW N": the N-th answer with rows of the next connection is changed so; then COMMAND runs, and its
status is a line of standard output. What is changed: its values are none (null), words, other numbers or lists that are none; or it has each row twice,
or no rows."""
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
    if how == 'null': return row([None] * len(values))
    if how == 'words': return row([b'../../words'] * len(values))
    if how == 'other': return row([None if v is None else other(v) for v in values])
    if how == 'lists': return row([b'{1,2,x}'] * len(values))
    if how == 'twice': return row(values) * 2
    if how == 'none': return b''

def answers(real, client, how, number):
    seen, is_row = 0, False
    try:
        while True:
            head = read(real, 5)
            body = read(real, struct.unpack('>i', head[1:])[0] - 4)
            if head[:1] == b'D':
                if not is_row: seen += 1
                is_row = True
                client.sendall(change(how, body) if seen == number else head + body)
            else:
                if head[:1] in b'CTZ': is_row = False
                client.sendall(head + body)
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
            if not data: break
            real.sendall(data)
    except OSError:
        pass
    try: real.shutdown(socket.SHUT_WR)
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
