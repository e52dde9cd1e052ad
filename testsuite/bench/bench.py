#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracing costs: ns a call of a tiny library function untraced, under ltrace and under the
tracer, stops a call, the same with more probes and threads, time to the first line of an attach, and the
tracer's memory there.

Runs of the competitors take turns, so that a change of the machine's mood meets all of them; medians
are printed. Everything is measured twice: where the scheduler puts tracer and target, and with both on
one CPU, where a stop costs far less. The tables are Markdown, for doc/PERFORMANCE.md.
"""
import argparse
import contextlib
import os
import platform
import re
import select
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # the distribution's: it loads the distribution's libsqlite3
TIMEOUT = 120
MANY = 10000  # functions of a library

GOAL_RATIO = 4        # times faster than ltrace
GOAL_RECORD = 150     # and for one of which a whole record is made
GOAL_RATE = 1000000   # lines a second into a file
GOAL_COUNTED = 50     # ns more than untraced for a call that is counted in the process
GOAL_STOPS = 2        # a call
GOAL_SHARE = 90       # % of the time that 100 × usleep(1000) gets beside 5000 trivial calls
GOAL_FIRST_LINE = 50  # ms
GOAL_MEMORY = 30      # MB


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracer", required=True)
    parser.add_argument("--work-dir", required=True)
    parser.add_argument("--runs", type=int, default=5, help="of which the median is taken")
    parser.add_argument("--calls", type=int, default=10000, help="traced calls in a run")
    parser.add_argument("--counted-calls", type=int, default=5_000_000, help="the same, where they do not stop")
    parser.add_argument("--untraced-calls", type=int, default=50_000_000)
    return parser.parse_args()


def build(work_dir):
    """Compiles the loop and its library; returns the program's path."""
    compiler = shlex.split(os.environ.get("CC") or "gcc")
    os.makedirs(work_dir, exist_ok=True)
    library = os.path.join(work_dir, "libtiny.so")
    program = os.path.join(work_dir, "loop")
    subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-Wl,-soname,libtiny.so", "-o", library,
                    os.path.join(HERE, "tiny.c")], check=True)
    many = os.path.join(work_dir, "many.c")
    with open(many, "w", encoding="ascii") as file:
        file.writelines(f"long many_{i:04}(long x) {{ return x * 3 + {i}; }}\n" for i in range(MANY))
    subprocess.run([*compiler, "-O1", "-shared", "-fPIC", "-Wl,-soname,libmany.so", "-o",
                    os.path.join(work_dir, "libmany.so"), many], check=True)
    # A lazy PLT: the one shape that every ltrace traces rightly.
    subprocess.run([*compiler, "-O2", "-fcf-protection=none", "-Wl,-z,lazy", "-pthread", "-o", program,
                    os.path.join(HERE, "loop.c"), library, "-Wl,-rpath," + work_dir, "-Wl,--no-as-needed",
                    os.path.join(work_dir, "libmany.so")], check=True)
    subprocess.run([*compiler, "-O2", "-o", os.path.join(work_dir, "sleeps"),
                    os.path.join(HERE, "sleeps.c")], check=True)
    return program


# ---- cost of a call ----------------------------------------------------------------------------

def on_one_cpu():
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


PLACES = [("any CPU", None), ("one CPU", on_one_cpu)]


def run_loop(prefix, program, calls, work_dir, place, threads=1, burst=0, pause=0):
    """One run; (ns a call of one thread, stops a call)."""
    result = os.path.join(work_dir, "result")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(result)
    done = subprocess.run([*prefix, program, str(calls), result, str(threads), str(burst), str(pause)], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=TIMEOUT, check=False, preexec_fn=place)
    if done.returncode != 0 or not os.path.exists(result):
        raise RuntimeError(f"{shlex.join(prefix)} failed ({done.returncode}): "
                           f"{done.stderr.decode(errors='replace')[-400:]}")
    with open(result, encoding="ascii") as file:
        nanoseconds, stops = map(int, file.read().split())
    return nanoseconds / calls, stops / calls


def competitors(arguments):
    """(name, command prefix, calls)"""
    found = [("untraced", [], arguments.untraced_calls)]
    ltrace = shutil.which("ltrace")
    if ltrace:
        found += [("ltrace -c", [ltrace, "-c"], arguments.calls),
                  ("ltrace -o /dev/null", [ltrace, "-o", "/dev/null"], arguments.calls)]
    found += [("tracer -c --engine=auto", [arguments.tracer, "-c", "--engine=auto"], arguments.counted_calls),
              ("tracer -c", [arguments.tracer, "-c"], arguments.calls),
              ("tracer -o /dev/null", [arguments.tracer, "-o", "/dev/null"], arguments.calls)]
    return found


def measure_calls(arguments, program):
    """(name, place) → (median ns a call, its spread, median stops a call)"""
    samples = {}
    for _ in range(arguments.runs):
        for place, pin in PLACES:
            for name, prefix, calls in competitors(arguments):
                samples.setdefault((name, place), []).append(
                    run_loop(prefix, program, calls, arguments.work_dir, pin))
    medians = {}
    for key, runs in samples.items():
        costs = [cost for cost, _ in runs]
        medians[key] = (statistics.median(costs), f"{min(costs):.0f}–{max(costs):.0f}",
                         statistics.median(stops for _, stops in runs))
    return medians


def rival(name):
    return name.replace("tracer", "ltrace").replace(" --engine=auto", "")


def print_calls(medians):
    print("| one call of a tiny function | where | ns | min–max | stops | ltrace takes |")
    print("|---|---|---:|---:|---:|---:|")
    for (name, place), (cost, spread, stops) in medians.items():
        ratio = ""
        if name.startswith("tracer") and (rival(name), place) in medians:
            ratio = f"{medians[rival(name), place][0] / cost:.1f} ×"
        shown = f"{cost:.1f}" if cost < 100 else f"{cost:.0f}"
        print(f"| {name} | {place} | {shown} | {spread} | {stops:.2f} | {ratio} |")


# ---- more probes, more threads -----------------------------------------------------------------

PROBES = [(1, ()), (11, ("-x", "many_000?")), (1001, ("-x", "many_0???")), (10001, ("-x", "many_????"))]
THREADS = (1, 2, 8, 64)


def measure_growth(arguments, program):
    """[(how many probes, threads, median ns that a call takes more than untraced, median ms to the loop's end)]"""
    found = []
    for probes, options, threads in ([(number, options, 1) for number, options in PROBES] +
                                     [(1, (), number) for number in THREADS[1:]]):
        prefix = [arguments.tracer, "-c", "--engine=auto", "-g", "-x", "tiny", *options]
        calls, added, whole = arguments.counted_calls // threads, [], []
        for _ in range(arguments.runs):
            plain = run_loop([], program, calls, arguments.work_dir, None, threads)[0]
            start = time.monotonic()
            cost = run_loop(prefix, program, calls, arguments.work_dir, None, threads)[0]
            whole.append((time.monotonic() - start) * 1e3 - cost * calls / 1e6)
            added.append(cost - plain)
        found.append((probes, threads, statistics.median(added) / max(1, threads / os.cpu_count()),
                      statistics.median(whole)))
    return found


def print_growth(rows):
    print("| probes | threads | ns more a call, of a processor's time | ms for all but the calls |")
    print("|---:|---:|---:|---:|")
    for probes, threads, added, whole in rows:
        print(f"| {probes} | {threads} | {added:.0f} | {whole:.0f} |")
    print(flush=True)


# ---- records ------------------------------------------------------------------------------------

# name → options, calls, calls in a burst, us between bursts
RECORDS = {"three arguments, one a string; 100 calls each ms": ([], 200_000, 100, 1000),
           "the same, -T and -tt": (["-T", "-tt"], 200_000, 100, 1000),
           "the same, 200 calls after 50 ms each": ([], 12_000, 200, 50_000)}
STREAM = 3000000


def measure_records(arguments, program):
    """[(what, median ns that a call takes more than untraced)] and lines a second into a file"""
    conf = os.path.join(arguments.work_dir, "records.conf")
    with open(conf, "w", encoding="ascii") as file:
        file.write("long tiny(long);\nlong tiny_text(string, long, long);\n")
    lines = os.path.join(arguments.work_dir, "lines")
    base = [arguments.tracer, "--engine=auto", "-F", conf, "-g", "-o", lines]
    found, rates = {name: [] for name in RECORDS}, []
    for _ in range(arguments.runs):
        for name, (words, calls, burst, pause) in RECORDS.items():
            plain, cost = (run_loop(prefix, program, calls, arguments.work_dir, None, 1, burst, pause)[0]
                           for prefix in ([], [*base, *words, "-x", "tiny_text"]))
            found[name].append(cost - plain)
        cost = run_loop([*base, "-x", "tiny"], program, STREAM, arguments.work_dir, None)[0]
        rates.append(1e9 / cost)
    return {name: statistics.median(costs) for name, costs in found.items()}, statistics.median(rates)


def print_records(found):
    costs, rate = found
    print("| a line by the agent | ns more a call |")
    print("|---|---:|")
    for name, cost in costs.items():
        print(f"| {name} | {cost:.0f} |")
    print(f"\n{rate:,.0f} lines a second into a file, of one thread that does nothing but call\n", flush=True)


# ---- whose time it is --------------------------------------------------------------------------

def sleep_share(command, work_dir):
    """The share of usleep() in one run's table, in %."""
    done = subprocess.run([*command, "-c", os.path.join(work_dir, "sleeps")], timeout=TIMEOUT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    return float(re.search(r"^ *([0-9.]+) .* usleep$", done.stderr, re.M)[1])


def measure_shares(arguments):
    """name → median share of the sleeps"""
    commands = [("tracer", [arguments.tracer])]
    if ltrace := shutil.which("ltrace"):
        commands.append(("ltrace", [ltrace]))
    return {name: statistics.median(sleep_share(command, arguments.work_dir)
                                    for _ in range(arguments.runs))
            for name, command in commands}


def print_shares(shares):
    print("| 100 × usleep(1000) and 5000 trivial calls | share of usleep |")
    print("|---|---:|")
    print("| truth | 99 % |")
    for name, share in shares.items():
        print(f"| {name} -c | {share:.1f} % |")
    print(flush=True)


# ---- attaching ---------------------------------------------------------------------------------

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
    """(ms from the start of the tracer to its first line, peak MB once it has traced a while)"""
    start = time.monotonic()
    process = subprocess.Popen([tracer, "-tt", "-T", "-g", "-x", "sqlite3_prepare_v2",
                                "-p", str(target.pid)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        seen = b""
        while b"\n" not in seen:
            if not select.select([process.stdout], [], [], 20)[0]:
                raise RuntimeError("the tracer printed no line within 20 s")
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                raise RuntimeError(f"the tracer ended: {seen.decode(errors='replace')}")
            seen += piece
        elapsed = (time.monotonic() - start) * 1000
        if b"sqlite3_prepare_v2(" not in seen:
            raise RuntimeError(f"unexpected first line: {seen.decode(errors='replace')}")
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


# ---- report ------------------------------------------------------------------------------------

def print_machine():
    model = "unknown CPU"
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if found := re.search(r"^model name\s*:\s*(.*)$", file.read(), re.M):
            model = found[1]
    release = "unknown distribution"
    with contextlib.suppress(OSError), open("/etc/os-release", encoding="utf-8") as file:
        if found := re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.M):
            release = found[1]
    virtual = ""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        virtual = ", virtual" if "hypervisor" in file.read() else ""
    print(f"{model}{virtual}, {os.cpu_count()} CPUs; {release}, Linux {platform.release()}; "
          f"load {os.getloadavg()[0]:.2f}")
    if ltrace := shutil.which("ltrace"):
        version = subprocess.run([ltrace, "-V"], capture_output=True, text=True, check=False)
        print(f"ltrace: {(version.stdout or version.stderr).splitlines()[0]}")
    else:
        print("ltrace: not installed, not compared (Debian, Fedora: ltrace)")


def print_record_goals(records):
    costs, rate = records
    for name, cost in costs.items():
        print(f"{'met   ' if cost <= GOAL_RECORD else 'MISSED'}  a line of {name}: {cost:.0f} ns more a call, "
              f"{GOAL_RECORD} asked")
    print(f"{'met   ' if rate >= GOAL_RATE else 'MISSED'}  {rate:,.0f} lines a second, {GOAL_RATE:,} asked")


def print_goals(medians, shares, attach):
    def goal(met, text):
        print(f"{'met   ' if met else 'MISSED'}  {text}")

    for (name, place), (cost, _, stops) in medians.items():
        if not name.startswith("tracer"):
            continue
        if name == "tracer -c --engine=auto":
            added = cost - medians["untraced", place][0]
            goal(added <= GOAL_COUNTED, f"{name}, {place}: {added:.0f} ns more a call, {GOAL_COUNTED} asked")
        if (rival(name), place) in medians:
            ratio = medians[rival(name), place][0] / cost
            goal(ratio >= GOAL_RATIO, f"{name}, {place}: {ratio:.1f} times faster than ltrace, "
                                      f"{GOAL_RATIO} asked")
        goal(stops <= GOAL_STOPS + 0.01,
             f"{name}, {place}: {stops:.2f} stops a call, {GOAL_STOPS} asked")
    goal(shares["tracer"] >= GOAL_SHARE,
         f"usleep gets {shares['tracer']:.1f} % of the time, {GOAL_SHARE} % asked")
    first, memory = attach
    goal(first <= GOAL_FIRST_LINE, f"first line {first:.1f} ms after the start of an attach to "
                                   f"Python, {GOAL_FIRST_LINE} ms asked")
    goal(memory < GOAL_MEMORY, f"{memory:.1f} MB resident there, under {GOAL_MEMORY} MB asked")


def main():
    arguments = parse_arguments()
    arguments.work_dir = os.path.abspath(arguments.work_dir)
    program = build(arguments.work_dir)
    print_machine()
    print(f"median of {arguments.runs} runs of {arguments.calls} calls\n", flush=True)
    try:
        medians = measure_calls(arguments, program)
        print_calls(medians)
        print(flush=True)
        print_growth(measure_growth(arguments, program))
        records = measure_records(arguments, program)
        print_records(records)
        shares = measure_shares(arguments)
        print_shares(shares)
        attach = measure_attach(arguments)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.exit(f"bench: {error}")
    print(f"| attach to {PYTHON} (sqlite3) | |")
    print("|---|---:|")
    print(f"| first line after | {attach[0]:.1f} ms |")
    print(f"| tracer's peak resident memory | {attach[1]:.1f} MB |")
    print()
    print_goals(medians, shares, attach)
    print_record_goals(records)


main()
