# SPDX-License-Identifier: GPL-2.0-or-later
"""What the measurements of bench.py share: programs that are traced, a run of one, goals."""
import contextlib
import os
import shlex
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # the distribution's: it loads the distribution's libsqlite3
TIMEOUT = 120
MANY = 10000  # functions of a library


class Goals:
    """What is asked for, and whether it was met."""

    def __init__(self):
        self.lines = []

    def add(self, met, text):
        self.lines.append(f"{'met   ' if met else 'MISSED'}  {text}")


def build(work_dir):
    """Compiles the loop and its library; returns the program's path."""
    compiler = shlex.split(os.environ.get("CC") or "gcc")
    os.makedirs(work_dir, exist_ok=True)
    library = os.path.join(work_dir, "libtiny.so")
    program = os.path.join(work_dir, "loop")
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-Wl,-soname,libtiny.so", "-o", library,
                    os.path.join(HERE, "tiny.c")], check=True)
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-o", os.path.join(work_dir, "libstub.so"),
                    os.path.join(HERE, "stub.c")], check=True)
    many = os.path.join(work_dir, "many.c")
    with open(many, "w", encoding="ascii") as file:
        file.writelines(f"long many_{i:04}(long x) {{ return x * 3 + {i}; }}\n" for i in range(MANY))
    subprocess.run([*compiler, "-O1", "-shared", "-fPIC", "-Wl,-soname,libmany.so", "-o",
                    os.path.join(work_dir, "libmany.so"), many], check=True)
    # A lazy PLT: the one shape that every ltrace traces rightly.
    subprocess.run([*compiler, "-O2", "-fcf-protection=none", "-Wl,-z,lazy", "-pthread", "-o", program,
                    os.path.join(HERE, "loop.c"), library, "-Wl,-rpath," + work_dir, "-Wl,--no-as-needed",
                    os.path.join(work_dir, "libmany.so")], check=True)
    for name in ("sleeps", "deep"):
        subprocess.run([*compiler, "-O2", "-o", os.path.join(work_dir, name), os.path.join(HERE, f"{name}.c")], check=True)
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-pthread", "-o", os.path.join(work_dir, "libgap.so"),
                    os.path.join(HERE, "gap.c")], check=True)
    return program


def on_one_cpu():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


PLACES = [("any CPU", None), ("one CPU", on_one_cpu)]


def result_of(work_dir):
    """The place where a program leaves its result, which is not there."""
    path = os.path.join(work_dir, "result")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    return path


def read_result(path, count):
    """(ns, stops) of one of `count`."""
    with open(path, encoding="ascii") as file:
        nanoseconds, stops = map(int, file.read().split())
    return nanoseconds / count, stops / count


def run_program(prefix, program, count, work_dir, *more, place=None, timeout=TIMEOUT):
    """One run of `program count RESULT more…`; (ns, stops) of one of `count`."""
    result = result_of(work_dir)
    done = subprocess.run([*prefix, *program, str(count), result, *map(str, more)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=timeout, check=False, preexec_fn=place)
    if done.returncode != 0 or not os.path.exists(result):
        raise RuntimeError(f"{shlex.join(prefix)} failed ({done.returncode}): "
                           f"{done.stderr.decode(errors='replace')[-400:]}")
    return read_result(result, count)


def run_loop(prefix, program, calls, work_dir, place, threads=1, burst=0, pause=0):
    """One run of the loop; (ns a call of one thread, stops a call)."""
    return run_program(prefix, [program], calls, work_dir, threads, burst, pause, place=place)


def try_program(*arguments, **named):
    """The same, in ns; None for a tool that fails, takes too long, or the program with it."""
    try:
        return run_program(*arguments, **named)[0]
    except (RuntimeError, subprocess.TimeoutExpired):
        return None


def in_words(nanoseconds):
    """Of a cell."""
    if nanoseconds is None:
        return "fails"
    return f"{nanoseconds:.1f}" if nanoseconds < 100 else f"{nanoseconds:.0f}"
