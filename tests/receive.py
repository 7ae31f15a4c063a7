#!/usr/bin/python3
"""receive.py MODULES COMMAND: bodies for clear serve --receive, by the messages that protoc made of tests/otlp.proto and tests/receive.proto.
otlp FILE SERVICE HOST TIME_NS VALUE [FAULT]: one profile of CPU samples; FAULT stack: and a second one, whose stack is in no table.
crowd COUNT TIME_NS: so many, each with a sample, as many1.pb and so on. samples FILE COUNT: one profile of many samples. tags FILE COUNT: one whose resource has so many attributes.
partial: standard input is an answer of OTLP: rejected profiles and why. status: it is a google.rpc.Status.
push FILE SERVICE HOST PPROF...: a request of Pyroscope's push API, a series for each file. drip PORT PATH TOKEN: a body that never ends;
prints how the server ended it. collector: a receiver. leave PORT PATH TOKEN: goes away in the middle of a body."""
import gzip, http.server, socket, sys, time

sys.path.insert(0, sys.argv[1])
import otlp_pb2 as otlp
import receive_pb2 as receive


class Body:
    def __init__(self):
        self.data = otlp.ProfilesData()
        d = self.data.dictionary
        for table in (d.mapping_table, d.location_table, d.function_table, d.link_table, d.attribute_table, d.stack_table):
            table.add()
        d.string_table.extend(["", "samples", "count", "cpu", "nanoseconds", "main", "work"])
        for name in (5, 6):
            d.function_table.add(name_strindex=name)
            d.location_table.add().lines.add(function_index=name - 4, line=name)
        d.stack_table.add(location_indices=[2, 1])
        d.link_table.add(trace_id=bytes(range(16)), span_id=bytes(range(8)))

    def profiles(self, service, host, more=()):
        resource = self.data.resource_profiles.add()
        for key, value in [("service.name", service), ("host.name", host), *more]:
            resource.resource.attributes.add(key=key).value.string_value = value
        return resource.scope_profiles.add().profiles

    def profile(self, profiles, at, count=0, value=1, stack=1):
        one = profiles.add(time_unix_nano=at, duration_nano=10**9, period=10_000_000)
        one.sample_type.type_strindex, one.sample_type.unit_strindex = 1, 2
        one.period_type.type_strindex, one.period_type.unit_strindex = 3, 4
        one.samples.add(stack_index=stack, values=[value], link_index=1)
        for i in range(count):
            one.samples.add(stack_index=stack, values=[i % 1000])


def write(path, message):
    with open(path, "wb") as file:
        file.write(message.SerializeToString())


def begin(port, path, token):
    client = socket.create_connection(("127.0.0.1", int(port)))
    client.sendall(f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"
                   "Content-Type: application/x-protobuf\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n".encode())
    return client


def drip(client):
    client.settimeout(0.2)
    try:
        while True:
            client.sendall(b"1\r\nx\r\n")
            try:
                if not client.recv(4096):
                    return "closed"
                return "answered"
            except TimeoutError:
                pass
    except OSError:
        return "closed"


def collector():
    """Takes what comes on a port that it prints: busy at first, then all of it, then a part, then nothing. Keeps the body as collected.pb."""
    answers = [(503, receive.Status(code=14, message="busy")), (200, receive.ExportProfilesServiceResponse()),
               (200, receive.ExportProfilesServiceResponse(partial_success=receive.ExportProfilesPartialSuccess(rejected_profiles=2, error_message="two are wrong"))),
               (400, receive.Status(code=3, message="no such profile"))]

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = gzip.decompress(self.rfile.read(int(self.headers["Content-Length"])))
            status, message = answers.pop(0)
            with open("collected.pb", "wb") as file:
                file.write(body)
            with open("collected.txt", "w") as file:
                print(self.path, self.headers["Content-Type"], self.headers["Authorization"], self.headers["X-Scope-OrgID"], file=file)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(message.SerializeToString())

        def log_message(self, *_):
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    while answers:
        server.handle_request()


def main(command, *words):
    body = Body()
    if command == "otlp":
        path, service, host, at, value = words[:5]
        profiles = body.profiles(service, host)
        body.profile(profiles, int(at), value=int(value))
        if len(words) > 5:
            body.profile(profiles, int(at), stack=77)
        write(path, body.data)
    elif command == "crowd":
        for i in range(1, int(words[0]) + 1):
            one = Body()
            one.profile(one.profiles("crowd", f"h{i % 2}"), int(words[1]) + i)
            write(f"many{i}.pb", one.data)
    elif command == "collector":
        collector()
    elif command == "samples":
        body.profile(body.profiles("many", "h1"), time.time_ns(), count=int(words[1]))
        write(words[0], body.data)
    elif command == "tags":
        body.profile(body.profiles("tags", "h1", [(f"key{i}", "v" * 10) for i in range(int(words[1]))]), time.time_ns())
        write(words[0], body.data)
    elif command == "partial":
        answer = receive.ExportProfilesServiceResponse.FromString(sys.stdin.buffer.read())
        print(answer.partial_success.rejected_profiles, answer.partial_success.error_message)
    elif command == "status":
        status = receive.Status.FromString(sys.stdin.buffer.read())
        print(status.code, status.message)
    elif command == "push":
        request = receive.PushRequest()
        for pprof in words[3:]:
            series = request.series.add()
            for name, value in [("__name__", "process_cpu"), ("service_name", words[1]), ("hostname", words[2]), ("pod", "a-1")]:
                series.labels.add(name=name, value=value)
            with open(pprof, "rb") as file:
                series.samples.add(raw_profile=file.read(), ID="1")
        write(words[0], request)
    elif command == "drip":
        print(drip(begin(*words)))
    elif command == "leave":
        begin(*words).close()


main(*sys.argv[2:])
