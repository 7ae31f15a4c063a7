"""Inputs that several rows read, the same for the same arguments: each is made once, in the directory that BENCH_INPUTS names (bench/all has one for a
whole run), else in one of this process. Nobody writes to them: who changes a file copies it."""

import atexit
import multiprocessing
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

import make_pprof

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEAR = os.environ.get("CLEAR", os.path.join(ROOT, "clear"))
DEPTH, SEED = 24, 7


def directory():
    if "BENCH_INPUTS" not in os.environ:
        os.environ["BENCH_INPUTS"] = tempfile.mkdtemp(prefix="clear-bench.")
        atexit.register(shutil.rmtree, os.environ["BENCH_INPUTS"], ignore_errors=True)
    return os.environ["BENCH_INPUTS"]


def once(name, make):
    """The path of that input. make(path) makes it, where no row did before."""
    path = os.path.join(directory(), name)
    if not os.path.exists(path):
        make(path + ".new")
        os.rename(path + ".new", path)
    return path


def pprof(samples, functions, variant=0):
    return once(f"{samples}.{functions}.{variant}.pb.gz", lambda path: make_pprof.write(path, samples, functions, DEPTH, SEED, variant))


def pprofs(count, samples, functions):
    """A directory of so many, as of one program's history."""
    def make(path):
        os.mkdir(path)
        files = [(os.path.join(path, f"{variant:03}.pb.gz"), samples, functions, DEPTH, SEED, variant) for variant in range(count)]
        if multiprocessing.current_process().daemon: # of a pool, in prepare
            for file in files: make_pprof.write(*file)
            return
        with multiprocessing.Pool() as pool:
            pool.starmap(make_pprof.write, files)
    return once(f"{count}x{samples}.{functions}", make)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode: sys.exit(f"bench: {' '.join(command)}: status {done.returncode}\n{done.stderr.decode(errors='replace')}")


def make_warehouse(path, runs, sites, seed):
    """Tables alone, of so many runs of so many sites."""
    with sqlite3.connect(path) as warehouse, open(os.path.join(ROOT, "schema", "tables.sql"), encoding="utf-8") as tables:
        warehouse.executescript(tables.read())
    run(sys.executable, os.path.join(ROOT, "bench", "make_warehouse.py"), path, str(runs), str(sites), "2000", "10", str(seed))


def tables(runs, sites):
    return once(f"{runs}x{sites}.tables.sqlite", lambda path: make_warehouse(path, runs, sites, 1))


def warehouse(runs, sites, seed=1):
    """The same with its views, rules and queries, which clear puts into a file that it writes, and sealed."""
    def make(path):
        make_warehouse(path, runs, sites, seed)
        run(CLEAR, "ingest", "-q", "--db", path, os.path.join(ROOT, "fixtures", "corpus", "folded", "app.folded"))
        with sqlite3.connect(path) as warehouse:
            warehouse.execute("PRAGMA foreign_keys = ON")
            warehouse.execute("DELETE FROM runs WHERE source <> 'profile'")
    return once(f"{runs}x{sites}.{seed}.sqlite", make)


def prepare():
    """Makes those that take long at once, one a processor, while nothing is measured."""
    scale = float(os.environ.get("SCALE", "1"))
    long = [(warehouse, (max(10, int(10_000 * scale)), 300)), (pprof, (1_000_000, 20_000)), (pprof, (500_000, 20_000)),
            (pprofs, (200, 2_000, 1_500)), (pprofs, (1000, 500, 1_500))]
    directory()
    with multiprocessing.Pool() as pool:
        for made in [pool.apply_async(make, arguments) for make, arguments in long]: made.get()
