# SPDX-License-Identifier: GPL-2.0-or-later
"""Attaching: the time to the first line, the tracer's memory, how long the target stands still."""
import contextlib
import os
import re
import select
import signal
import statistics
import subprocess
import time

from common import HERE, PYTHON

GOAL_FIRST_LINE = 30  # ms
GOAL_MEMORY = 30      # MB
GOAL_PAUSE = 10       # ms

# ---- the first line ----------------------------------------------------------------------------

@contextlib.contextmanager
def service():
    process = subprocess.Popen([PYTHON, "-B", os.path.join(HERE, "service.py")],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.wait()


def memory_peak(pid):
    """The most memory a process had resident, in MB."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        return int(re.search(r"^VmHWM:\s*(\d+) kB", file.read(), re.M)[1]) / 1024


def attach_once(tracer, target):
    """(ms from the start of the tracer to its first line of the trace, peak MB once it has traced a while)"""
    start = time.monotonic()
    process = subprocess.Popen([tracer, "-tt", "-T", "-g", "-x", "sqlite3_prepare_v2",
                                "-p", str(target.pid)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        seen = b""
        while not re.search(rb"sqlite3_prepare_v2\(.*\n", seen):
            if not select.select([process.stdout], [], [], 20)[0]:
                raise RuntimeError("the tracer printed no line within 20 s")
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                raise RuntimeError(f"the tracer ended: {seen.decode(errors='replace')}")
            seen += piece
        elapsed = (time.monotonic() - start) * 1000
        until = time.monotonic() + 0.3
        while time.monotonic() < until and select.select([process.stdout], [], [], 0.3)[0]:
            os.read(process.stdout.fileno(), 65536)
        memory = memory_peak(process.pid)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    finally:
        process.kill()
        process.wait()
    if process.returncode != 0 or target.poll() is not None:
        raise RuntimeError(f"detaching failed: tracer {process.returncode}, target {target.poll()}")
    return elapsed, memory


def measure_attach(arguments):
    with service() as target:
        runs = [attach_once(arguments.tracer, target) for _ in range(arguments.runs + 2)]
    return statistics.median(first for first, _ in runs), max(memory for _, memory in runs)


def print_attach(found):
    first, memory = found
    print(f"| attach to {PYTHON} (sqlite3) | |")
    print("|---|---:|")
    print(f"| first line after | {first:.1f} ms |")
    print(f"| tracer's peak resident memory | {memory:.1f} MB |")
    print(flush=True)


# ---- the pause ---------------------------------------------------------------------------------

# One function; so many that looking for them and planting them takes its time.
PAUSES = {"-x PyEval_SaveThread": ("-x", "PyEval_SaveThread"), "-x '*@libc.so.6'": ("-x", "*@libc.so.6")}


class Machine:
    """A Python process with many modules, a thread of which notes how long it did not run."""

    def __init__(self, work_dir):
        self.process = subprocess.Popen([PYTHON, "-B", os.path.join(HERE, "vm.py"),
                                         os.path.join(work_dir, "libgap.so")],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.modules = int(self.process.stdout.readline())

    def gap(self):
        """The longest since it was asked last, in ms."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline()) / 1e6

    def end(self):
        self.process.kill()
        self.process.communicate()


def wait_for_output(path, process):
    limit = time.monotonic() + 30
    while not (os.path.exists(path) and os.path.getsize(path)):
        if process.poll() is not None or time.monotonic() > limit:
            raise RuntimeError(f"the tracer printed no line ({process.poll()})")
        time.sleep(0.002)


SETTLING = 0.5  # seconds; what is planted and caught inside after the first line is an attach's as well


def pause_once(tracer, machine, words, work_dir):
    """(longest gap untraced, while attaching, while detaching) in ms; the first two of the same length."""
    lines = os.path.join(work_dir, "lines")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(lines)
    machine.gap()
    start = time.monotonic()
    process = subprocess.Popen([tracer, "-o", lines, "-g", *words, "-p", str(machine.process.pid)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_output(lines, process)
        time.sleep(SETTLING)
        elapsed, attaching = time.monotonic() - start, machine.gap()
        process.send_signal(signal.SIGINT)
        process.wait(20)
    finally:
        process.kill()
        process.wait()
    detaching = machine.gap()
    time.sleep(elapsed)
    return machine.gap(), attaching, detaching


def measure_pauses(arguments):
    """how many modules, {filter: (median gap untraced, attaching, detaching, in ms)}"""
    machine, found = Machine(arguments.work_dir), {name: [] for name in PAUSES}
    try:
        for _ in range(arguments.runs + 2):
            for name, words in PAUSES.items():
                found[name].append(pause_once(arguments.tracer, machine, words, arguments.work_dir))
    finally:
        machine.end()
    return machine.modules, {name: [statistics.median(column) for column in zip(*runs)]
                             for name, runs in found.items()}


def print_pauses(found):
    modules, pauses = found
    print(f"| longest gap that a thread of {PYTHON} sees, {modules} modules | untraced, ms | attach, ms | detach, ms |")
    print("|---|---:|---:|---:|")
    for name, gaps in pauses.items():
        print(f"| tracer -g {name} | " + " | ".join(f"{gap:.2f}" for gap in gaps) + " |")
    print(flush=True)


def add_goals(goals, attach, pauses):
    first, memory = attach
    goals.add(first <= GOAL_FIRST_LINE, f"first line {first:.1f} ms after the start of an attach to "
                                        f"Python, {GOAL_FIRST_LINE} ms asked")
    goals.add(memory < GOAL_MEMORY, f"{memory:.1f} MB resident there, under {GOAL_MEMORY} MB asked")
    for name, (untraced, attaching, _) in pauses[1].items():
        goals.add(attaching <= GOAL_PAUSE, f"attach with -g {name}: a gap of {attaching:.1f} ms, {GOAL_PAUSE} ms asked "
                                           f"({untraced:.1f} ms without a tracer)")
