# SPDX-License-Identifier: GPL-2.0-or-later
"""The same loop with each kind of output, launched and attached, on one thread and two, beside other tools."""
import contextlib
import os
import re
import select
import shutil
import statistics
import subprocess
import time

from common import TIMEOUT, in_words, read_result, result_of, run_loop

COLUMNS = [(attached, threads) for attached in (False, True) for threads in (1, 2)]
TITLES = ["launched, 1 thread", "2 threads", "attached, 1 thread", "2 threads"]
BURST, PAUSE = 100, 1000  # calls, us between them: no ring is ever full
GOAL_COUNTED = 50         # ns more than untraced
GOAL_PERCENTILES = 35     # the same, for a call that is counted with its time in a bucket
GOAL_GROUPED = 40         # the same, in a group
GOAL_REFUSED = 33         # the same, for a call that a condition refuses: 1.3 times what counting it takes
GOAL_RECORD = 150         # the same, for a call of which all arguments are noted
YARDSTICK = 25            # what a stub made by hand takes in the machine for which these were asked
STUB = "a stub made by hand"
SETTLE = 0.5              # s that a tool is given to attach which does not tell when it has


class Way:
    """A command that traces the loop; `function` is what it calls, `asked` the goal in ns."""

    def __init__(self, name, prefix, calls, pauses=False, text=False, planted=None, attaches=True, asked=None):
        self.name, self.prefix, self.calls, self.attaches = name, prefix, calls, attaches
        self.burst = BURST if pauses else calls if text else 0
        self.pause = PAUSE if pauses else 0
        self.planted, self.asked = planted, asked

    @property
    def base(self):
        """What it is compared with: the same loop, untraced."""
        return Way("untraced", [], self.calls, pauses=self.pause > 0, text=self.burst > 0)


def tracer_ways(arguments):
    conf = os.path.join(arguments.work_dir, "ways.conf")
    with open(conf, "w", encoding="ascii") as file:
        file.write("long tiny(long);\nlong tiny_text(string, long, long);\n")
    lines = os.path.join(arguments.work_dir, "lines")
    base = [arguments.tracer, "-v", "-g", "-F", conf]
    record = [*base, "-x", "tiny_text", "-o"]
    counted, many = arguments.counted_calls, arguments.counted_calls // 25

    def way(name, prefix, calls, asked=None, **more):
        return Way(name, prefix, calls, planted=rb"tiny(_text)?: (in the process|by breakpoint)", asked=asked, **more)

    return [way("tracer -c", [*base, "-c", "-x", "tiny"], counted, GOAL_COUNTED),
            way("tracer -c -U p99", [*base, "-c", "-U", "p99", "-x", "tiny"], counted, GOAL_PERCENTILES),
            way("tracer -c --by=function", [*base, "-c", "--by=function", "-x", "tiny"], counted, GOAL_GROUPED),
            way("tracer --if, which never holds", [*base, "-o", lines, "--if", "arg1 == -5", "-x", "tiny"], counted, GOAL_REFUSED),
            way("tracer -c -T", [*base, "-c", "-T", "-x", "tiny"], counted, GOAL_COUNTED),
            way("tracer -o FILE, three arguments, 100 calls each ms", [*record, lines], many, GOAL_RECORD,
                pauses=True),
            way("the same, calls without a pause", [*record, lines], many, text=True),
            way("tracer -o /dev/null, calls without a pause", [*record, "/dev/null"], many, text=True)]


def yardstick_way(arguments):
    stub = os.path.join(arguments.work_dir, "libstub.so")
    return Way(STUB, ["env", "LD_PRELOAD=" + stub], arguments.counted_calls,
               attaches=False)


def other_ways(arguments):
    """Ways of the tools that are installed, and a line each for those that are not."""
    library = os.path.join(arguments.work_dir, "libtiny.so")
    data = os.path.join(arguments.work_dir, "uftrace.data")
    script = f"uprobe:{library}:tiny {{ @s[tid] = nsecs; }} uretprobe:{library}:tiny {{ @t = hist(nsecs - @s[tid]); }}"
    refuses = f"BEGIN {{ @t = 0; }} uprobe:{library}:tiny /arg0 == 987654321987/ {{ @t = 1; }}"
    ways, absent = [], []
    for tool, way in (
            ("ltrace", Way("ltrace -c", ["ltrace", "-f", "-c"], arguments.calls // 5)),
            ("uftrace", Way("uftrace record --force", ["uftrace", "record", "--force", "--no-event", "-d", data],
                            arguments.counted_calls // 25, attaches=False)),
            ("bpftrace", Way("bpftrace, a histogram", ["bpftrace", "-e", script, "-c"], arguments.calls, attaches=False)),
            ("bpftrace", Way("bpftrace, a filter that never holds", ["bpftrace", "-e", refuses, "-c"], arguments.calls,
                             attaches=False))):
        if not shutil.which(tool):
            absent.append(f"{tool}: not installed, not compared")
        elif tool == "bpftrace" and os.geteuid():
            absent.append("bpftrace: needs root, not compared")
        else:
            ways.append(way)
    return ways, absent


def launched(way, program, work_dir, threads):
    if way.prefix[:1] == ["bpftrace"]:
        result = result_of(work_dir)
        command = f"{program} {way.calls} {result} {threads}"
        done = subprocess.run([*way.prefix, command], stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=TIMEOUT, check=False)
        if done.returncode != 0 or b"@t" not in done.stdout or not os.path.exists(result):
            raise RuntimeError(f"bpftrace failed: {done.stderr.decode(errors='replace')[-400:]}")
        return read_result(result, way.calls)[0]
    return run_loop(way.prefix, program, way.calls, work_dir, None, threads, way.burst, way.pause)[0]


def wait_for(process, pattern):
    """Until standard error has a match."""
    seen, limit = b"", time.monotonic() + 20
    while not re.search(pattern, seen):
        if not select.select([process.stderr], [], [], max(0, limit - time.monotonic()))[0]:
            raise RuntimeError("the tracer planted nothing within 20 s")
        piece = os.read(process.stderr.fileno(), 65536)
        if not piece:
            raise RuntimeError(f"the tracer ended: {seen.decode(errors='replace')[-400:]}")
        seen += piece


@contextlib.contextmanager
def tracing(way, pid):
    if not way.prefix:
        yield
        return
    process = subprocess.Popen([*way.prefix, "-p", str(pid)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        if way.planted:
            wait_for(process, way.planted)
        else:
            time.sleep(SETTLE)
        yield
        process.communicate(timeout=20)
        if process.returncode:
            raise RuntimeError(f"{way.name}, attached, failed: {process.returncode}")
    finally:
        process.kill()
        process.communicate()


def attached(way, program, work_dir, threads):
    result = result_of(work_dir)
    target = subprocess.Popen([program, str(way.calls), result, str(threads), str(way.burst), str(way.pause), "wait"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        target.stdout.readline()
        with tracing(way, target.pid):
            target.stdin.close()
            if target.wait(TIMEOUT) != 0:
                raise RuntimeError(f"{way.name}, attached: the loop failed: {target.returncode}")
    finally:
        target.kill()
        target.wait()
        target.stdout.close()
    return read_result(result, way.calls)[0]


def measure_ways(arguments, program):
    """([(way, [median ns a call] for each column, the same untraced)], tools that are absent)"""
    others, absent = other_ways(arguments)
    ways = [(way, arguments.runs) for way in [*tracer_ways(arguments), yardstick_way(arguments)]]
    ways += [(way, min(2, arguments.runs)) for way in others]
    samples = {}
    for turn in range(arguments.runs):
        for number, (way, runs) in enumerate(ways):
            for is_attached, threads in COLUMNS:
                if turn >= runs or (is_attached and not way.attaches):
                    continue
                run = attached if is_attached else launched
                samples.setdefault((number, is_attached, threads), []).append(
                    [run(one, program, arguments.work_dir, threads) for one in (way.base, way)])

    def medians(number, which):
        return [statistics.median(pair[which] for pair in samples[number, *column])
                if (number, *column) in samples else None for column in COLUMNS]

    return [(way, medians(number, 1), medians(number, 0)) for number, (way, _) in enumerate(ways)], absent


def print_ways(found):
    rows, absent = found
    counted = rows[0][1][0]
    print("| ns a call of one thread | " + " | ".join(TITLES) + " | times `tracer -c` |")
    print("|---|---:|---:|---:|---:|---:|")
    print("| untraced | " + " | ".join(in_words(cost) for cost in rows[0][2]) + " | |")
    for way, costs, _ in rows:
        cells = ["" if cost is None else in_words(cost) for cost in costs]
        print(f"| {way.name} | {' | '.join(cells)} | {costs[0] / counted:.1f} |")
    print("".join(f"\n{line}" for line in absent) + "\n" if absent else "", flush=True)


def add_goals(goals, found):
    """In nanoseconds, as they were asked, and as ratios to what this machine needs at the least."""
    stub = next(costs[0] - plain[0] for way, costs, plain in found[0] if way.name == STUB)
    for way, costs, plain in found[0]:
        if not way.asked:
            continue
        for (is_attached, threads), cost, base in zip(COLUMNS, costs, plain):
            where = f"{'attached' if is_attached else 'launched'}, {threads} thread{'s' if threads > 1 else ''}"
            goals.add(cost - base <= way.asked,
                      f"{way.name}, {where}: {cost - base:.0f} ns more a call, {way.asked} asked")
            ratio, most = (cost - base) / stub, way.asked / YARDSTICK
            goals.add(ratio <= most, f"{way.name}, {where}: {ratio:.1f} times {STUB}, {most:.0f} asked")
