#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What tracing costs: ns a call of a tiny library function untraced, under the tracer and under other tools,
launched and attached; stops a call; the same with more probes and threads; whole programs; the time to the first line of
an attach, how long the target stands still for it, and the tracer's memory; script lines and stacks; recordings and their replay.

Runs of the competitors take turns, so that a change of the machine's mood meets all of them; medians
are printed. Calls are measured twice: where the scheduler puts tracer and target, and with both on
one CPU, where a stop costs far less. The tables are Markdown, for doc/PERFORMANCE.md.
"""
import argparse
import contextlib
import os
import platform
import re
import shutil
import subprocess
import sys

import attach
import costs
import programs
import recordings
import services
import stacks
import ways
from common import Goals, build


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracer", required=True)
    parser.add_argument("--work-dir", required=True)
    parser.add_argument("--runs", type=int, default=5, help="of which the median is taken")
    parser.add_argument("--calls", type=int, default=10000, help="traced calls in a run")
    parser.add_argument("--counted-calls", type=int, default=5_000_000, help="the same, where they do not stop")
    parser.add_argument("--untraced-calls", type=int, default=50_000_000)
    return parser.parse_args()


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


def main():
    arguments = parse_arguments()
    arguments.work_dir = os.path.abspath(arguments.work_dir)
    program, goals = build(arguments.work_dir), Goals()
    print_machine()
    print(f"median of {arguments.runs} runs of {arguments.calls} calls\n", flush=True)
    try:
        medians = costs.measure_calls(arguments, program)
        costs.print_calls(medians)
        every_way = ways.measure_ways(arguments, program)
        ways.print_ways(every_way)
        growth = costs.measure_growth(arguments, program)
        costs.print_growth(growth)
        records = costs.measure_records(arguments, program)
        costs.print_records(records)
        shares = costs.measure_shares(arguments)
        costs.print_shares(shares)
        whole = programs.measure_programs(arguments)
        programs.print_programs(whole)
        first = attach.measure_attach(arguments)
        attach.print_attach(first)
        pauses = attach.measure_pauses(arguments)
        attach.print_pauses(pauses)
        seen = stacks.measure_stacks(arguments)
        stacks.print_stacks(seen)
        served = services.measure_services(arguments.tracer)
        services.print_services(served)
        recordings.measure(arguments.tracer, arguments.work_dir, arguments.runs, goals)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.exit(f"bench: {error}")
    costs.add_goals(goals, medians, records, shares, growth)
    ways.add_goals(goals, every_way)
    programs.add_goals(goals, whole)
    attach.add_goals(goals, first, pauses)
    stacks.add_goals(goals, seen)
    services.add_goals(goals, served)
    print("\n".join(goals.lines))


main()
