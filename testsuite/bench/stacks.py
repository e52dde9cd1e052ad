# SPDX-License-Identifier: GPL-2.0-or-later
"""Script lines and stacks: what they add to a call, how long --stacks stops a process, what --profile takes from one."""
import os
import shutil
import statistics
import subprocess
import threading
import time

from common import HERE, PYTHON, run_program

GOAL_LINE = 1000       # ns, in the process
GOAL_SCRIPT = 1000     # ns, in the process: all frames of the script, up to 20
GOAL_FRAMES = 3000     # ns, in the process: native frames, too
GOAL_STACK = 100       # us, by breakpoints
GOAL_FRAME = 100       # ns, in the tracer
GOAL_PAUSE = 2, 5      # ms, mean and worst
GOAL_SNAPSHOT = 40     # ms
GOAL_PROFILE = 0.95    # of the throughput
THREADS = 59
SECONDS = 2

DEPTHS = (1, 20)
# What a stack costs in the process is seen where the process does not wait until the tracer has shown it.
OPTIONS = {"": (), "-W": ("-W",), "-w 1000": ("-w", "1000"), "--lossy": ("--lossy",), "--lossy -w script": ("--lossy", "-w", "script"),
           "--lossy -w 1000": ("--lossy", "-w", "1000"), "trap": ("--engine=trap",), "trap -W": ("--engine=trap", "-W"),
           "trap -w 1000": ("--engine=trap", "-w", "1000")}


def measure_lines(arguments):
    """{(options, depth): ns a call}, traced; the first is what is added to."""
    found = {}
    for _ in range(arguments.runs):
        for name, options in OPTIONS.items():
            calls = 2000 if name.startswith("trap") else 200_000
            for depth in DEPTHS:
                prefix = [arguments.tracer, *options, "-o", os.path.join(arguments.work_dir, "lines"), "-g", "-x", "getppid"]
                taken = run_program(prefix, [PYTHON, os.path.join(HERE, "deep.py")], calls, arguments.work_dir, depth)[0]
                found.setdefault((name, depth), []).append(taken)
    return {key: statistics.median(values) for key, values in found.items()}


def measure_frames(arguments):
    """ns that the tracer takes for a native frame of a stack that it has met before: by breakpoints, and without the text."""
    shallow, deep, found = 5, 905, []
    for _ in range(arguments.runs + 2):
        prefix = [arguments.tracer, "--engine=trap", "-w", "1000", "--record=" + os.path.join(arguments.work_dir, "frames"), "-g",
                  "-x", "getppid"]
        taken = [run_program(prefix, [os.path.join(arguments.work_dir, "deep")], 5000, arguments.work_dir, depth)[0] for depth in (shallow, deep)]
        found.append((taken[1] - taken[0]) / (deep - shallow))
    return statistics.median(found)


class Threads:
    """A Python process with threads: see threads.py."""

    def __init__(self, work_dir, count):
        self.process = subprocess.Popen([PYTHON, "-B", os.path.join(HERE, "threads.py"), os.path.join(work_dir, "libgap.so"), str(count)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdout.readline()

    def ask(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def snapshots(arguments):
    """The commands that show all stacks of a process: {name: words in front of the pid}"""
    ways = {"tracer --stacks": (arguments.tracer, "--stacks", "-p")}
    if gdb := shutil.which("gdb"):
        ways["gdb, thread apply all bt"] = (gdb, "-nx", "-batch", "-ex", "thread apply all bt", "-p")
    if stack := shutil.which("eu-stack"):
        ways["eu-stack"] = (stack, "-p")
    return ways


def ms_of(command):
    """How long it takes. Without a time limit of Python's: it looks then whether the command has ended, at last each 50 ms."""
    start = time.monotonic()
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        limit = threading.Timer(60, process.kill)
        limit.start()
        process.wait()
        limit.cancel()
    return (time.monotonic() - start) * 1000


def measure_snapshots(arguments):
    """{name: ([longest gap in ms], [ms from start to end])}, and "untraced" with gaps alone."""
    found = {"untraced": ([], [])}
    with Threads(arguments.work_dir, THREADS) as threads:
        for _ in range(arguments.runs + 5):
            threads.ask()
            time.sleep(0.05)
            found["untraced"][0].append(threads.ask() / 1e6)
            for name, words in snapshots(arguments).items():
                threads.ask()
                took = ms_of([*words, str(threads.process.pid)])
                gaps, times = found.setdefault(name, ([], []))
                gaps.append(threads.ask() / 1e6)
                times.append(took)
    return found


def throughput(threads, seconds):
    before = threads.ask()
    time.sleep(seconds)
    return threads.ask() - before


def measure_profile(arguments):
    """Rounds of four threads while they are sampled, over those untraced; the median of pairs in turns."""
    ratios = []
    with Threads(arguments.work_dir, -4) as threads:
        for _ in range(arguments.runs + 2):
            untraced = throughput(threads, SECONDS)
            with subprocess.Popen([arguments.tracer, "--profile", "-o", os.path.join(arguments.work_dir, "folded"), "-p",
                                   str(threads.process.pid)], stderr=subprocess.DEVNULL) as profile:
                time.sleep(0.1)
                ratios.append(throughput(threads, SECONDS) / untraced)
                profile.terminate()
    return statistics.median(ratios)


def measure_stacks(arguments):
    return measure_lines(arguments), measure_snapshots(arguments), measure_profile(arguments), measure_frames(arguments)


def print_stacks(found):
    lines, stacks, profile, frame = found
    print(f"| ns a call from {PYTHON}, frames deep | " + " | ".join(map(str, DEPTHS)) + " |")
    print("|---|" + "---:|" * len(DEPTHS))
    for name in OPTIONS:
        print(f"| tracer {name.replace('trap', '--engine=trap')} | " + " | ".join(f"{lines[name, depth]:.0f}" for depth in DEPTHS) + " |")
    print(f"\n| all stacks of {THREADS + 1} threads | longest gap, ms: mean | worst | ms from start to end |")
    print("|---|---:|---:|---:|")
    for name, (gaps, times) in stacks.items():
        end = f"{statistics.median(times):.0f}" if times else ""
        print(f"| {name} | {statistics.mean(gaps):.2f} | {max(gaps):.2f} | {end} |")
    print(f"\n--profile at 49 Hz, 4 threads that compute: {profile:.3f} of the rounds untraced\n")
    print(f"A native frame in the tracer: {frame:.0f} ns\n", flush=True)


def add_goals(goals, found):
    lines, stacks, profile, frame = found
    for depth in DEPTHS:
        added = lines["-W", depth] - lines["", depth]
        goals.add(added <= GOAL_LINE, f"-W in the process, {depth} frames deep: {added:.0f} ns more a call, {GOAL_LINE} asked")
        for name, goal in (("-w script", GOAL_SCRIPT), ("-w 1000", GOAL_FRAMES)):
            added = lines[f"--lossy {name}", depth] - lines["--lossy", depth]
            goals.add(added <= goal, f"{name} in the process, {depth} frames deep: {added:.0f} ns more a call, {goal} asked")
        added = (lines["trap -w 1000", depth] - lines["trap", depth]) / 1000
        goals.add(added <= GOAL_STACK, f"-w 1000 by breakpoints, {depth} frames deep: {added:.0f} us more a call, {GOAL_STACK} asked")
    goals.add(frame <= GOAL_FRAME, f"a native frame in the tracer: {frame:.0f} ns, {GOAL_FRAME} asked")
    gaps, times = stacks["tracer --stacks"]
    mean, worst, end = statistics.mean(gaps), max(gaps), statistics.median(times)
    goals.add(mean <= GOAL_PAUSE[0] and worst <= GOAL_PAUSE[1],
              f"--stacks of {THREADS + 1} threads: gaps of {mean:.1f} ms, at worst {worst:.1f}, {GOAL_PAUSE[0]} and {GOAL_PAUSE[1]} asked")
    goals.add(end <= GOAL_SNAPSHOT, f"--stacks took {end:.0f} ms, {GOAL_SNAPSHOT} asked")
    goals.add(profile >= GOAL_PROFILE, f"--profile leaves {profile:.3f} of the throughput, {GOAL_PROFILE} asked")
