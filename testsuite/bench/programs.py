# SPDX-License-Identifier: GPL-2.0-or-later
"""Whole programs under -e '*': one whose exceptions pass through traced functions, and Python with a database."""
import contextlib
import os
import shlex
import shutil
import statistics
import subprocess
import sys

from common import HERE, PYTHON, in_words, try_program

sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from harness import Failure, Skip  # noqa: E402
from mariadb import Server  # noqa: E402

EXCEPTIONS, QUERIES = 500, 2000
SLOWER = 20    # of which a tool that stops the program gets one
PATIENCE = 30  # s


def commands(arguments):
    """[(name, prefix, how many times fewer of it, runs)]"""
    every = ["-e", "*"]
    found = [("untraced", [], 1, arguments.runs),
             ("tracer -c -e '*'", [arguments.tracer, "-c", *every], 1, arguments.runs),
             ("tracer -e '*' -o /dev/null", [arguments.tracer, *every, "-o", "/dev/null"], 1, arguments.runs)]
    found += [("tracer --engine=trap -c -e '*'", [arguments.tracer, "--engine=trap", "-c", *every], SLOWER, 1)]
    if shutil.which("ltrace"):
        found += [("ltrace -c -e '*'", ["ltrace", "-c", *every], SLOWER, 1)]
    if shutil.which("uftrace"):
        data = os.path.join(arguments.work_dir, "uftrace.data")
        found += [("uftrace record --force", ["uftrace", "record", "--force", "--no-event", "-d", data], 1, 1)]
    return found


def build_exceptions(work_dir):
    """The program's path; None without a C++ compiler."""
    compiler = shlex.split(os.environ.get("CXX") or "g++")
    if not shutil.which(compiler[0]):
        return None
    library, program = (os.path.join(work_dir, name) for name in ("libthrows.so", "catches"))
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-Wl,-soname,libthrows.so", "-o", library,
                    os.path.join(HERE, "throws.cc")], check=True)
    subprocess.run([*compiler, "-O2", "-o", program, os.path.join(HERE, "catches.cc"), library,
                    "-Wl,-rpath," + work_dir], check=True)
    return program


@contextlib.contextmanager
def database(arguments):
    """(its name, more arguments of queries.py)"""
    has_driver = subprocess.run([PYTHON, "-c", "import MySQLdb"], capture_output=True, check=False).returncode == 0
    with contextlib.ExitStack() as stack:
        found = ("SQLite, as there is no MariaDB", ())
        if has_driver:
            with contextlib.suppress(Skip, Failure):
                found = ("MariaDB", (stack.enter_context(Server()).socket,))
        yield found


def measure_one(arguments, program, count, *more):
    """{name: median ns, or None}, in turns"""
    samples = {}
    for turn in range(arguments.runs):
        for name, prefix, fewer, runs in commands(arguments):
            if turn < runs:
                samples.setdefault(name, []).append(
                    try_program(prefix, program, count // fewer, arguments.work_dir, *more, timeout=PATIENCE))
    return {name: None if None in runs else statistics.median(runs) for name, runs in samples.items()}


def measure_programs(arguments):
    """[(what one is, {name: median ns})]"""
    found = []
    program = build_exceptions(arguments.work_dir)
    if program:
        found.append(("a C++ exception through two functions", measure_one(arguments, [program], EXCEPTIONS)))
    with database(arguments) as (name, more):
        queries = [PYTHON, "-B", os.path.join(HERE, "queries.py")]
        found.append((f"a query of {name} by Python", measure_one(arguments, queries, QUERIES, *more)))
    return found


def print_programs(found):
    for what, medians in found:
        plain = medians["untraced"]
        print(f"| {what} | ns | times untraced |")
        print("|---|---:|---:|")
        for name, cost in medians.items():
            print(f"| {name} | {in_words(cost)} | {f'{cost / plain:.1f}' if cost and plain else ''} |")
        print(flush=True)


def add_goals(goals, found):
    """Nothing is asked of their cost, but that they work."""
    for what, medians in found:
        for name, cost in medians.items():
            if name.startswith("tracer"):
                goals.add(cost is not None, f"{what}, {name}: it ends well within {PATIENCE} s")
