#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What --record and --replay cost: calls a second into a file, bytes a call; time and memory of the replay in each form, by size."""
import os
import re
import shlex
import subprocess
import statistics
import sys
import time

from common import HERE, Goals, in_words, run_program

SIZES = (1_000_000, 3_000_000, 10_000_000)
THREADS = 4
CONF = """
long rec_three(long a, addr b, int c);
int rec_open(string, int);
long rec_read(int, addr, ulong);
addr rec_alloc(ulong);
void rec_free(addr);
int rec_query(addr, string);
double rec_ratio(double, double);
"""
FORMS = [("text", ()), ("-c", ("-c",)), ("json", ("--format=json",)), ("report", ("--report=PAGE",))]


def build(work_dir):
    compiler = shlex.split(os.environ.get("CC") or "gcc")
    os.makedirs(work_dir, exist_ok=True)
    program = os.path.join(work_dir, "recorded")
    subprocess.run([*compiler, "-O2", "-pthread", "-o", program, os.path.join(HERE, "recorded.c")], check=True)
    with open(os.path.join(work_dir, "recorded.conf"), "w", encoding="ascii") as file:
        file.write(CONF)
    return program


def peak_of(pid):
    """MB of resident memory at most, up to now; 0 when it has ended. (What wait4() has is at least Python's own.)"""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        found = re.search(r"VmHWM:\s+(\d+) kB", file.read())
    return int(found[1]) / 1024 if found else 0


def costs(command):
    """(seconds, of a processor, peak of the resident memory in MB) of a command."""
    process, began, memory = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL), time.monotonic(), 0
    while True:
        memory = max(memory, peak_of(process.pid))
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            break
        time.sleep(0.002)
    if status:
        raise RuntimeError(f"{shlex.join(command)} failed: {status}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, memory


def recorded(tracer, program, work_dir, calls, threads, *options):
    """ns a call, while it is recorded."""
    conf = os.path.join(work_dir, "recorded.conf")
    prefix = [tracer, "-F", conf, "-g", "-x", "rec_*", *options] if options else []
    return run_program(prefix, [program], calls, work_dir, threads)[0]


def measure_recording(tracer, program, work_dir, runs, goals):
    trace, lines = os.path.join(work_dir, "a.trace"), os.path.join(work_dir, "lines")
    ways = [("untraced", ()), ("--record=FILE", (f"--record={trace}",)), ("--record=FILE --compress=none", (f"--record={trace}", "--compress=none")),
            ("-o FILE", ("-o", lines))]
    print("\n| calls of | way | ns a call | calls a second | bytes a call |\n|---|---|---:|---:|---:|")
    for what, threads in (("one function, one thread", 1), (f"six functions, {THREADS} threads", THREADS)):
        taken = {name: [] for name, _ in ways}
        for _ in range(runs):
            for name, options in ways:
                taken[name].append(recorded(tracer, program, work_dir, SIZES[0] * 2, threads, *options))
        for name, options in ways:
            median, size = statistics.median(taken[name]), ""
            if options:
                recorded(tracer, program, work_dir, SIZES[0], threads, *options)
                size = f"{os.path.getsize(lines if '-o' in options else trace) / SIZES[0]:.1f}"
            print(f"| {what} | {name} | {in_words(median)} | {1e9 / median:,.0f} | {size} |")
            if name == "--record=FILE":
                goals.add(float(size) <= 40, f"at most 40 bytes a call, {what}: {size}")
                if threads == 1:
                    goals.add(1e9 / median >= 3e6, f"3,000,000 calls a second of one thread into a file: {1e9 / median:,.0f}")


def measure_replay(tracer, program, work_dir, goals):
    trace, page, lines = (os.path.join(work_dir, name) for name in ("a.trace", "page.html", "lines"))
    print("\n| replay of | file, MB | form | s | of a processor | calls a second | memory, MB |\n|---|---:|---|---:|---:|---:|---:|")
    for what, threads in (("one function", 1), (f"six functions, {THREADS} threads", THREADS)):
        for calls in SIZES:
            recorded(tracer, program, work_dir, calls, threads, f"--record={trace}")
            for name, options in FORMS:
                words = [option.replace("PAGE", page) for option in options]
                seconds, processor, memory = costs([tracer, f"--replay={trace}", "-o", "/dev/null" if name == "report" else lines, *words])
                print(f"| {calls:,} calls, {what} | {os.path.getsize(trace) / 1e6:.1f} | {name} | {seconds:.2f} | {processor:.2f} | "
                      f"{calls / seconds:,.0f} | {memory:.0f} |", flush=True)
                if calls == SIZES[-1] and name in ("text", "-c"):
                    goals.add(memory < 100, f"under 100 MB for {name} of {calls:,} calls: {memory:.0f}")
                if calls == SIZES[-1] and name == "text":
                    goals.add(calls / seconds >= 2e6, f"2,000,000 lines a second: {calls / seconds:,.0f}")
                for path in (page, lines):
                    if os.path.exists(path):
                        os.unlink(path)


def measure(tracer, work_dir, runs, goals):
    program = build(work_dir)
    measure_recording(tracer, program, work_dir, runs, goals)
    measure_replay(tracer, program, work_dir, goals)


if __name__ == "__main__":
    all_goals = Goals()
    print(f"load {os.getloadavg()[0]:.2f}")
    measure(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), 5, all_goals)
    print("\n" + "\n".join(all_goals.lines))
    print(f"load {os.getloadavg()[0]:.2f}")
