# SPDX-License-Identifier: GPL-2.0-or-later
"""What a call costs beside ltrace, with more probes and threads, with a line of text; whose time is shown."""
import os
import re
import shutil
import statistics
import subprocess
import time

from common import PLACES, TIMEOUT, run_loop

GOAL_RATIO = 4        # times faster than ltrace
GOAL_RECORD = 150     # ns more than untraced for a call of which a whole record is made
GOAL_RATE = 1000000   # lines a second into a file
GOAL_COUNTED = 50     # ns more than untraced for a call that is counted in the process
GOAL_STOPS = 2        # a call
GOAL_PLANT = 500     # ms for a run with the most probes, but for its calls
GOAL_SHARE = 98       # % of the time that 100 × usleep(1000) gets beside 5000 trivial calls

# ---- cost of a call ----------------------------------------------------------------------------

def competitors(arguments):
    """(name, command prefix, calls)"""
    found = [("untraced", [], arguments.untraced_calls)]
    ltrace = shutil.which("ltrace")
    if ltrace:
        found += [("ltrace -c", [ltrace, "-c"], arguments.calls),
                  ("ltrace -o /dev/null", [ltrace, "-o", "/dev/null"], arguments.calls)]
    trap = [arguments.tracer, "--engine=trap"]
    found += [("tracer -c", [arguments.tracer, "-c"], arguments.counted_calls),
              ("tracer --engine=trap -c", [*trap, "-c"], arguments.calls),
              ("tracer --engine=trap -o /dev/null", [*trap, "-o", "/dev/null"], arguments.calls)]
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
    return name.replace("tracer", "ltrace").replace(" --engine=trap", "")


def print_calls(medians):
    print("| one call of a tiny function | where | ns | min–max | stops | ltrace takes |")
    print("|---|---|---:|---:|---:|---:|")
    for (name, place), (cost, spread, stops) in medians.items():
        ratio = ""
        if name.startswith("tracer") and (rival(name), place) in medians:
            ratio = f"{medians[rival(name), place][0] / cost:.1f} ×"
        shown = f"{cost:.1f}" if cost < 100 else f"{cost:.0f}"
        print(f"| {name} | {place} | {shown} | {spread} | {stops:.2f} | {ratio} |")
    print(flush=True)

# ---- more probes, more threads -----------------------------------------------------------------

PROBES = [(1, ()), (11, ("-x", "many_000?")), (1001, ("-x", "many_0???")), (10001, ("-x", "many_????"))]
THREADS = (1, 2, 8, 64)


def measure_growth(arguments, program):
    """[(how many probes, threads, median ns that a call takes more than untraced, median ms to the loop's end)]"""
    found = []
    for probes, options, threads in ([(number, options, 1) for number, options in PROBES] +
                                     [(1, (), number) for number in THREADS[1:]]):
        prefix = [arguments.tracer, "-c", "-g", "-x", "tiny", *options]
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

# ---- records -----------------------------------------------------------------------------------

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
    base = [arguments.tracer, "-F", conf, "-g", "-o", lines]
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


# ---- goals --------------------------------------------------------------------------------------

def add_goals(goals, medians, records, shares, growth):
    for (name, place), (cost, _, stops) in medians.items():
        if not name.startswith("tracer"):
            continue
        if name == "tracer -c":
            added = cost - medians["untraced", place][0]
            goals.add(added <= GOAL_COUNTED, f"{name}, {place}: {added:.0f} ns more a call, {GOAL_COUNTED} asked")
        if (rival(name), place) in medians:
            ratio = medians[rival(name), place][0] / cost
            goals.add(ratio >= GOAL_RATIO, f"{name}, {place}: {ratio:.1f} times faster than ltrace, "
                                           f"{GOAL_RATIO} asked")
        goals.add(stops <= GOAL_STOPS + 0.01, f"{name}, {place}: {stops:.2f} stops a call, {GOAL_STOPS} asked")
    costs, rate = records
    for name, cost in costs.items():
        goals.add(cost <= GOAL_RECORD, f"a line of {name}: {cost:.0f} ns more a call, {GOAL_RECORD} asked")
    goals.add(rate >= GOAL_RATE, f"{rate:,.0f} lines a second, {GOAL_RATE:,} asked")
    goals.add(shares["tracer"] >= GOAL_SHARE,
              f"usleep gets {shares['tracer']:.1f} % of the time, {GOAL_SHARE} % asked")
    probes, _, _, whole = max(growth)
    goals.add(whole <= GOAL_PLANT, f"{probes:,} probes are planted and taken out in {whole:.0f} ms, {GOAL_PLANT} asked")
