# SPDX-License-Identifier: GPL-2.0-or-later
"""The torture tests' cases under ltrace, for the last column of doc/RELIABILITY.md.

With TORTURE_PEER=1 and an ltrace installed, cases that know how to are done under ltrace instead of under
our tracer; what comes of it goes into the report, and nothing that ltrace does fails a test.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import harness
from harness import Failure, Skip, kill_group
from target import Target, text_changes, thread_states, wait_until
from tracelines import Trace

LTRACE = shutil.which("ltrace")
WANTED = os.environ.get("TORTURE_PEER") == "1"
RUNS = 4  # of each way
PATIENCE = 60  # seconds after which it hangs
HANGS = 3  # cycles of a case that hang, after which no more are tried
SETTLE = 2.0  # seconds ltrace gets for attaching: it says nothing, and often plants nothing


def version():
    said = subprocess.run([LTRACE, "--version"], capture_output=True, text=True, check=False).stdout
    return re.match(r"ltrace (?:version )?([\d.]*\d)", said)[1]


def report(case, runs, survived, missed, made=None):
    """`missed`: calls that were not seen, of those `made` in the runs that the target survived."""
    row = {"test": os.path.basename(sys.argv[0]), "case": case, "date": time.strftime("%Y-%m-%d"),
           "peer": {"name": f"ltrace {version()}", "runs": runs, "survived": survived, "missed": missed,
                    "made": made}}
    path = os.environ.get("TORTURE_REPORT")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    raise Skip(f"measured with ltrace: {row['peer']}")


def options(ours):
    """What -g, -e, -x, -F are in ltrace's language. It follows threads only with -f."""
    given, files = {"-e": [], "-x": []}, []
    words = iter(ours)
    for word in words:
        if word in given:
            given[word].append(next(words))
        elif word == "-F":
            files += [word, next(words)]
        elif word in ("-o", "-s", "-A"):
            next(words)
    if "-g" in ours:
        given["-e"] = ["no_such_function"]
    return ["-f", *files, *(["-c"] if "-c" in ours else []), *(word for letter, names in given.items() if names for word in (letter, "+".join(names)))]


def _read(path):
    try:
        with open(path, encoding="latin-1") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def _launched(command, ours, start, env):
    path = os.path.join(harness.scratch(), "lines")
    run = harness.run(LTRACE, *options(ours), "-o", path, *command, stdin=start + "\n", env=env,
                      timeout=PATIENCE)
    return run.out, _read(path)


def start_attached(target, ours, path):
    process = subprocess.Popen([LTRACE, *options(ours), "-o", path, "-p", str(target.pid)],
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    harness.at_end(kill_group, process)
    return process


class Attached:
    """An ltrace attached to a target."""

    def __init__(self, target, ours):
        self.path = os.path.join(harness.scratch(), "lines")
        self.process = start_attached(target, ours, self.path)
        try:
            wait_until(lambda: text_changes(target.pid) and not any(
                state in "tT" for state, _ in thread_states(target.pid).values()), "breakpoints", SETTLE)
        except (Failure, OSError):
            pass

    def lines(self):
        return _read(self.path)


def _attached(command, ours, start, env):
    target = Target(*command, env=env)
    tracing = Attached(target, ours)
    target.say(start)
    out = "\n".join([*target.said, target.rest(PATIENCE)])
    target.wait(PATIENCE)
    kill_group(tracing.process)
    return out, tracing.lines()


def _missed(expected, lines, pattern, summary):
    """Each call may show as a call, as an entry, or as both."""
    seen, name_is = {}, re.compile(pattern)
    if summary:
        for line in lines.splitlines():
            fields = line.split(None, 4)
            if len(fields) == 5 and fields[3].isdigit() and (match := name_is.fullmatch(fields[4])):
                seen[match[1], "->" in fields[4]] = int(fields[3])
    for call in Trace(lines).calls:
        if match := name_is.fullmatch(call.name):
            key = match[1], "->" in call.name
            seen[key] = seen.get(key, 0) + 1
    return sum(max(0, number - max(seen.get((name, False), 0), seen.get((name, True), 0)))
               for name, number in expected.items())


WAYS = {"launched": _launched, "attached": _attached}


def both_ways(case, command, ours, is_right, expected, pattern, start="go", env=None, ways=tuple(WAYS)):
    """
    Runs a program under ltrace from the start and attached to, reports it, and skips the case.
    `is_right(out)`: the program has done what it does untraced. `expected`: name → calls.
    """
    runs = survived = missed = 0
    for way in ways:
        for _ in range(RUNS):
            runs += 1
            started = time.monotonic()
            try:
                out, lines = WAYS[way](command, ours, start, env)
            except (Failure, OSError):  # it hangs or died; what it had to say before does not matter
                if time.monotonic() - started >= PATIENCE:
                    break  # others would hang as long
                continue
            if is_right(out):
                survived += 1
                missed += _missed(expected, lines, pattern, "-c" in ours)
    report(case, runs, survived, missed, survived * sum(expected.values()))


def attach_and_end(case, make_target, traced, ask=("progress", "done"), sent=signal.SIGTERM, cycles=20):
    """
    Attaches, and tells ltrace to end, or kills it; a target that died, hangs or is wrong afterwards is
    replaced by a new one. `ask`: what the target is told then, and what it says when it has worked on.
    """
    survived, hung, done, target = 0, 0, 0, None
    while done < cycles and hung < HANGS:
        done += 1
        target = target or make_target()
        tracing = Attached(target, traced)
        tracing.process.send_signal(sent)
        started = time.monotonic()
        try:
            tracing.process.wait(PATIENCE)
            target.say(ask[0])
            target.expect(ask[1], PATIENCE)
            target.unharmed()
            survived += 1
        except (Failure, OSError, subprocess.TimeoutExpired):
            target = None
            hung += time.monotonic() - started >= PATIENCE
        kill_group(tracing.process)
    report(case, done, survived, None)


def many_at_once(case, make_target, traced, number, runs=RUNS):
    """So many of them attach to one process at the same time; they are told to end, and it works on."""
    survived = 0
    for _ in range(runs):
        target = make_target()
        crowd = [start_attached(target, traced, os.path.join(harness.scratch(), "lines")) for _ in range(number)]
        time.sleep(SETTLE)
        for process in crowd:
            process.terminate()
        try:
            for process in crowd:
                process.wait(PATIENCE)
            target.ask("progress")
            target.unharmed()
            survived += 1
        except (Failure, OSError, subprocess.TimeoutExpired):
            pass
        for process in crowd:
            kill_group(process)
    report(case, runs, survived, None)
