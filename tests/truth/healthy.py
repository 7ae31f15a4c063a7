"""Programs that are well: doctor says nothing critical of them, and gives at most one warning."""
import glob, random, shutil, socket
from common import *


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for(port):
    for _ in range(600):
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
    raise OSError(f"nothing answers on port {port}")


def prepare():
    """lines.txt, numbers.json, text.bin: inputs of some megabytes, the same in every run."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(5000)]
    with open("lines.txt", "w") as file:
        for i in range(300000): file.write(f"{i} {' '.join(chance.choices(words, k=6))}\n")
    with open("numbers.json", "w") as file:
        json.dump([{"id": i, "name": chance.choice(words), "values": [chance.randint(0, 999) for _ in range(8)]} for i in range(120000)], file)


def server(command, port, load, stop):
    """Runs a server under clear profile with a load upon it; its status."""
    process = subprocess.Popen([CLEAR, "profile", "-q", "--db", "t.db", "-o", "none.profile", "--", *command], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=open("server.err", "w"))
    wait_for(port)
    for each in load: subprocess.run(each, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    stop(process)
    return process.wait(60)


def redis():
    port = free_port()
    tool = lambda *words: [words[0], "-p", str(port), *words[1:]]
    return server(["redis-server", "--port", str(port), "--save", "", "--dir", os.getcwd()], port,
                  [tool("redis-benchmark", "-q", "-n", "60000", "-r", "10000", "-t", "set,get,incr,lpush,lpop,sadd,hset")],
                  lambda process: subprocess.run(tool("redis-cli", "shutdown", "nosave"), stdout=subprocess.DEVNULL))


def nginx():
    port, here = free_port(), os.getcwd()
    os.makedirs("www", exist_ok=True)
    shutil.copy("lines.txt", "www/large.txt")
    open("www/small.txt", "w").write("a page\n")
    user = "user root;" if os.getuid() == 0 else ""
    open("nginx.conf", "w").write(f"""{user} daemon off; worker_processes 2; pid {here}/nginx.pid; error_log {here}/error.log;
events {{ worker_connections 256; }}
http {{ access_log {here}/access.log; client_body_temp_path {here}; proxy_temp_path {here}; fastcgi_temp_path {here}; uwsgi_temp_path {here};
scgi_temp_path {here}; gzip on; gzip_types text/plain; server {{ listen 127.0.0.1:{port}; root {here}/www; }} }}\n""")
    nginx = shutil.which("nginx") or "/usr/sbin/nginx"
    url = f"http://127.0.0.1:{port}/"
    return server([nginx, "-p", here, "-e", here + "/error.log", "-c", here + "/nginx.conf"], port,
                  [["curl", "-s", "-o", "/dev/null", f"{url}small.txt?[1-15000]"], ["curl", "-s", "--compressed", "-o", "/dev/null", f"{url}large.txt?[1-10]"]],
                  lambda process: subprocess.run([nginx, "-p", here, "-e", here + "/error.log", "-c", here + "/nginx.conf", "-s", "quit"]))


def git():
    shutil.rmtree("repository", ignore_errors=True)
    os.makedirs("repository")
    chance = random.Random(3)
    for i in range(3000):
        os.makedirs(f"repository/{i % 40}", exist_ok=True)
        open(f"repository/{i % 40}/{i}.txt", "w").write("\n".join(str(chance.random()) for _ in range(60)))
    git = "git -C repository -c user.name=t -c user.email=t@example.org"
    return profile(["sh", "-c", f"git init -q repository && {git} add . && {git} commit -qm one && {git} gc -q && {git} fsck && {git} log --stat"]).returncode


def gcc():
    sources = sorted(glob.glob(os.path.join(ROOT, "query/profile/*.c")))[:6]
    return profile(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O2", "-g", "-I" + ROOT, "-c", *sources]).returncode


PROGRAMS = {
    "sqlite3": lambda: profile(["sqlite3", ":memory:"], stdin=open(os.path.join(ROOT, "fixtures/work.sql"))).returncode,
    "redis": redis,
    "nginx": nginx,
    "python3": lambda: profile(["python3", "-c", """import collections, json, re, threading
words = collections.Counter(re.findall(r"[a-p]+", open("lines.txt").read()))
rows = json.load(open("numbers.json"))
def work(): print(sum(sum(row["values"]) for row in rows), len(json.dumps(rows)))
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(words), sorted(words.items())[:10])"""]).returncode,
    "perl": lambda: profile(["perl", "-ne", "for (split) { $n{$_}++ } $l{length $_}++; "
                             "END { print \"$_ $n{$_}\\n\" for sort { $n{$b} <=> $n{$a} || $a cmp $b } keys %n }", "lines.txt"]).returncode,
    "git": git,
    "gcc": gcc,
    "xz": lambda: profile(["xz", "-k", "-f", "-T2", "-1", "lines.txt"]).returncode,
    "jq": lambda: profile(["jq", "-c", "group_by(.name) | map({name: .[0].name, sum: (map(.values | add) | add)})", "numbers.json"]).returncode,
    "node": lambda: profile(["node", "-e", """const fs = require("fs"), zlib = require("zlib");
const rows = JSON.parse(fs.readFileSync("numbers.json")), names = new Map();
for (let i = 0; i < 20; i++) for (const row of rows) names.set(row.name, (names.get(row.name) || 0) + row.values.reduce((a, b) => a + b, 0));
console.log(names.size, JSON.stringify(rows).length);
for (let i = 0; i < 4; i++) zlib.gzip(fs.readFileSync("lines.txt"), (error, out) => console.log(error, out.length));"""]).returncode,
}


def check(name, run):
    if not shutil.which({"redis": "redis-server", "nginx": "nginx"}.get(name, name), path=os.environ["PATH"] + ":/usr/sbin"):
        return row(name, "", "", "", "", "not installed", wrong=["not tried"])
    status = run()
    findings = [one for one in json.loads(clear("doctor", "--db", "t.db", "--json")) if one["section"] != "saturation"]
    said = [[one for one in findings if one["severity"] == severity] for severity in ("critical", "warning")]
    wrong = ([f"exit status {status}"] if status else []) + (["critical"] if said[0] else []) + (["more than one warning"] if len(said[1]) > 1 else [])
    row(name, f"{number('SELECT duration_ns FROM runs WHERE id = :run') / 1e9:.1f} s", number("SELECT sum(alloc_count) FROM heap WHERE run_id = :run"),
        len(said[0]), len(said[1]), "; ".join(f"{one['section']}/{one['code']} {one['subject'][:60]}" for one in said[0] + said[1]), wrong=wrong)


THREADED = ("shards 2", "shards 4", "shards 8", "pool 8", "pool 64", "routes 4", "routes 8", "counters 8", "scope 4", "scope 8", "pipeline", "timers 60")
TIMES = 3


def check_threaded(name, load):
    """Nothing at all is worth a warning, whoever else uses the processors."""
    said, failed = [], 0
    for _ in range(TIMES):
        status = profile([fixture("healthy_" + name.split()[0]), *name.split()[1:]], database="threads.db").returncode
        failed += status != 0
        rows = json.loads(clear("doctor", "--db", "threads.db", "--json"))
        said += [one for one in rows if one["severity"] in ("critical", "warning") and one["section"] != "saturation"]
    waited = ask("SELECT avg(run_delay_ns) / 1e6 FROM run_facts WHERE run_id > :run - ?1".replace("?1", str(TIMES)), database="threads.db")[0][0] or 0
    row(name, load, f"{waited:,.0f} ms", sum(one["severity"] == "critical" for one in said), sum(one["severity"] == "warning" for one in said),
        "; ".join(sorted({f"{one['section']}/{one['code']}" for one in said})), wrong=(["exit status"] if failed else []) + (["a warning"] if said else []))


heading("Healthy programs",
        "Real programs with a real load of some seconds, recorded with the default options. Nothing critical may be said of them, and at most one "
        "warning: neither memory that they keep to their end nor their locks are faults.")
header("program", "ran for", "allocations", "critical", "warnings", "which")
prepare()
for name, run in PROGRAMS.items():
    if len(sys.argv) < 2 or name in sys.argv[1:]: check(name, run)
print()
heading("Healthy programs with threads",
        f"The programs fixtures/healthy_*, {TIMES} runs each, alone and beside `stress-ng --cpu 2`. They have no fault, so nothing may be worth a warning: on a machine "
        "without a free processor threads wait for each other because one of them waits for a processor.")
header("program and threads", "beside it", "ready, but no processor (mean)", "critical", "warnings", "which")
for load in ("nothing", "stress-ng"):
    stress = subprocess.Popen(["stress-ng", "--cpu", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) if load == "stress-ng" else None
    try:
        for name in THREADED:
            if os.path.exists(fixture("healthy_" + name.split()[0])): check_threaded(name, load)
    finally:
        if stress: stress.terminate(), stress.wait()
end()
