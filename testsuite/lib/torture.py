# SPDX-License-Identifier: GPL-2.0-or-later
"""What the torture tests share: long and short forms, the same work done three ways, the report.

A test is an executable file testsuite/torture/NAME.test, made of cases like those of testsuite/e2e
(harness.py). `make check` runs the short form of each, `make torture` the long one; the latter
collects what report() was told and prints it as a table, which is this file run as a program.

A program to be done three ways says "ready", waits for a line on stdin, and does its work; so an
attaching tracer has all the time it needs. It counts the calls it makes to the traced functions
itself and says so at the end, whatever else it prints, with lines

    counted NAME N      calls of NAME
    unwound NAME N      those of them that were left without returning (none, if there is no such line)
    checksum N          of its work

What it prints must be the same each time: no pids, no addresses.

Environment: TORTURE (1: the long form), TORTURE_REPORT (the file that collects the report), and that
of harness.py.
"""
import collections
import functools
import json
import os
import re
import sys
import time
from dataclasses import dataclass

import harness
import peer
from harness import TRACER, Failure, check, equal, note
from target import Attached, Target
from tracelines import Trace

LONG = os.environ.get("TORTURE") == "1"
PATIENCE = 3600 if LONG else 180  # seconds after which something hangs
UNTRACED, LAUNCHED, ATTACHED = "untraced", "launched", "attached"
BARE = r"(?:[^\s>]*->)?([^@]+)(?:@.*)?"  # the function's name in `caller->name` and `name@library`


def rounds(short, long):
    """How often, in the form that is run."""
    return long if LONG else short


def report(case, runs, survived, missed, note=""):  # pylint: disable=redefined-outer-name
    """
    One row of the table of doc/RELIABILITY.md: so many traced runs (kills, cycles) were made, so many
    of them left the target as it would be untraced, so many calls were not seen.
    """
    row = {"test": os.path.basename(sys.argv[0]), "case": case, "runs": runs, "survived": survived,
           "missed": missed, "note": note, "date": time.strftime("%Y-%m-%d"), "long": LONG}
    path = os.environ.get("TORTURE_REPORT")
    if path and not peer.WANTED:
        with open(path, "a", encoding="utf-8") as file:  # in one write: several tests may report
            file.write(json.dumps(row) + "\n")
    return row


# ---- the same work, three ways -----------------------------------------------------------------

@dataclass
class Done:
    """A program that has ended, and what the tracer said of it."""
    way: str
    status: int
    out: str
    err: str
    lines: str = ""  # of the tracer
    messages: str = ""  # what the tracer had to say to its user
    traced_status: int = 0  # the tracer's exit status

    @functools.cached_property
    def trace(self):
        return Trace(self.lines)

    def numbers(self, word):
        """name → number, of lines `WORD NAME NUMBER`"""
        return {name: int(number) for name, number in
                re.findall(rf"^{word} (\S+) (\d+)$", self.out, re.M)}


def _read(path):
    with open(path, encoding="latin-1") as file:
        return file.read()


def _split_messages(text):
    """(what the program wrote to stderr, what the tracer did)"""
    lines = text.splitlines(True)
    ours = [line for line in lines if line.startswith("tracer: ")]
    return "".join(line for line in lines if not line.startswith("tracer: ")), "".join(ours)


def untraced(command, start="go", env=None):
    run = harness.run(*command, stdin=start + "\n", env=env, timeout=PATIENCE)
    return Done(UNTRACED, run.status, run.out, run.err)


def launched(command, options, start="go", env=None):
    path = os.path.join(harness.scratch(), "lines")
    run = harness.run(TRACER, "-o", path, *options, "--", *command, stdin=start + "\n", env=env,
                      timeout=PATIENCE)
    err, messages = _split_messages(run.err)
    return Done(LAUNCHED, run.status, run.out, err, _read(path), messages, run.status)


def attached(command, options, start="go", env=None):
    directory = harness.scratch()
    path, errors = os.path.join(directory, "lines"), os.path.join(directory, "stderr")
    with open(errors, "wb") as file:
        target = Target(*command, env=env, stderr=file)
    tracing = Attached(target, "-o", path, *options, ping=False, env=env)
    tracing.wait_for(f"^tracer: attached to process {target.pid} ")
    target.say(start)
    out = "\n".join([*target.said, target.rest(PATIENCE)])
    status = target.wait(PATIENCE)
    traced_status = tracing.ended(PATIENCE)
    return Done(ATTACHED, status, out, _read(errors), _read(path), tracing.messages(), traced_status)


_WAYS = {LAUNCHED: launched, ATTACHED: attached}


@dataclass
class Counts:
    """Of one function, as the tracer's lines have it."""
    calls: int = 0
    unwound: int = 0
    unfinished: int = 0


def counts(trace, pattern=BARE):
    """name → Counts, of the calls whose printed name matches wholly; the name is the first group."""
    found = collections.defaultdict(Counts)
    name_is = re.compile(pattern)
    for call in trace.calls:
        if match := name_is.fullmatch(call.name):
            count = found[match[1]]
            count.calls += 1
            count.unwound += call.left
            count.unfinished += call.result is None and not call.left
    return found


def _summary_counts(text, pattern):
    """The same of the table of -c, which tells calls only."""
    found = collections.defaultdict(Counts)
    for line in text.splitlines():
        fields = line.split(None, 4)
        if len(fields) == 5 and fields[3].isdigit() and (match := re.fullmatch(pattern, fields[4])):
            found[match[1]].calls += int(fields[3])
    return found


def missed_calls(done, options, pattern=BARE):
    """How many calls that the program counted were not seen."""
    seen = _summary_counts(done.lines, pattern) if "-c" in options else counts(done.trace, pattern)
    return sum(max(0, number - seen[name].calls) for name, number in done.numbers("counted").items())


def check_same(done, plain):
    """The program could not tell that it was traced."""
    for what in ("status", "err", "out"):
        equal(getattr(done, what), getattr(plain, what), f"{what} of the program, {done.way}")
    equal(done.traced_status, plain.status if done.way == LAUNCHED else 0, f"tracer's exit status, {done.way}")


def check_counts(done, options, pattern=BARE, unfinished=()):
    """
    Each call was seen, each that was left was seen to be. `unfinished`: names whose last calls may
    not be over when the process ends (as exit's never is).
    """
    if "-c" in options:
        seen = {name: count.calls for name, count in _summary_counts(done.lines, pattern).items()}
        expected = done.numbers("counted")
        equal({name: seen.get(name, 0) for name in expected}, expected, f"calls, {done.way}")
        return
    trace, unwound = done.trace, done.numbers("unwound")
    equal(trace.orphans[:5], [], f"returns without a call, {done.way}")
    seen = counts(trace, pattern)
    for name, number in done.numbers("counted").items():
        equal(seen[name].calls, number, f"calls of {name}, {done.way}")
        equal(seen[name].unwound, unwound.get(name, 0), f"calls of {name} that were left, {done.way}")
        if name not in unfinished:
            equal(seen[name].unfinished, 0, f"unfinished calls of {name}, {done.way}")


def same_three_ways(command, options, pattern=BARE, *, name="", runs=1, ways=(LAUNCHED, ATTACHED),
                    start="go", env=None, unfinished=(), also=None):
    """
    Runs a program untraced, traced from the start and attached to; each of the latter `runs` times.
    Standard output with its checksum, standard error and exit status have to be equal, and of the
    functions that the program counted itself, all calls must have been seen (`pattern`: how lines name
    them, options -e and -x in `options`; with -c the table counts). `also(done)`: what else has to be
    true of a traced run. `name`: its row in the report. Returns the last Done of each way.
    """
    plain = untraced(command, start, env)
    note(f"untraced: {plain}")
    check(re.search(r"^checksum \S+$", plain.out, re.M), f"no checksum in {plain.out[-2000:]!r}")
    check(plain.numbers("counted"), f"nothing counted in {plain.out[-2000:]!r}")
    if peer.WANTED and name:
        peer.both_ways(name, command, options, plain.out.__eq__, plain.numbers("counted"), pattern, start, env)
    results, failures, missed, survived = {UNTRACED: plain}, [], 0, 0
    for way in ways:
        for _ in range(runs):
            try:
                done = results[way] = _WAYS[way](command, options, start, env)
                note(f"{way}: status {done.status}, tracer's messages {done.messages!r}\n{done.out}\n{done.err}\n{done.lines}")
                missed += missed_calls(done, options, pattern)
                check_same(done, plain)
                survived += 1
                check_counts(done, options, pattern, unfinished)
                if also:
                    also(done)
            except Failure as failure:
                failures.append(failure)
    if name:
        report(name, runs * len(ways), survived, missed, f"{len(failures)} failed" if failures else "")
    if failures:
        raise Failure(f"{len(failures)} of {runs * len(ways)} runs, first: {failures[0]}")
    return results


# ---- the table at the end of make torture ------------------------------------------------------

def print_table(path):
    """Prints the rows of a report."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [row for row in map(json.loads, file) if "runs" in row]
    except FileNotFoundError:
        rows = []
    head = {"test": "test", "case": "case", "runs": "runs", "survived": "survived", "missed": "missed",
            "note": "note"}
    columns = list(head)
    text = [{key: str(row[key]) for key in columns} for row in [head, *sorted(rows, key=lambda r: r["test"])]]
    width = {key: max(len(row[key]) for row in text) for key in columns}
    for row in text:
        print("  ".join(row[key].rjust(width[key]) if key in ("runs", "survived", "missed")
                        else row[key].ljust(width[key]) for key in columns).rstrip())


if __name__ == "__main__":
    print_table(sys.argv[1])
