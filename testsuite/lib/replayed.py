# SPDX-License-Identifier: GPL-2.0-or-later
"""Records what a run of the tracer shows, and compares the replay with it.

A case of a test in SHOWN that has the tracer show something by harness.run() is run a second time, with recordings: so all
tests of what is shown are tests of replay, too.
"""
import functools
import os
import re
import sys

SHOWN = {"choices", "conditions", "dlopen", "follow", "functions", "go", "groups", "intervals", "json", "launch", "lines", "objects", "output",
         "passing", "percentiles", "pointers", "prototypes", "queries", "recipes", "script_lines", "spans", "sql", "syscalls", "vms", "where"}

# What a replay refuses, or what shows no trace.
_OTHERS = {"-l", "--library", "--stacks", "--core", "--profile", "--print-prototypes", "--recipes", "-h", "--help",
           "-V", "--version", "-D", "--debug", "--record", "--replay", "-ff"}
# What says whom to trace, and how; a replay goes without.
_LEFT_OUT = {"--sample", "-p", "--attach", "-u", "--user", "--duration", "-o", "--output"}


@functools.cache
def _valued(top):
    """The options that have a value, from the completions."""
    with open(os.path.join(top, "completions", "tracer"), encoding="utf-8") as file:
        return set(re.search(r"valued='([^']*)'", file.read())[1].split())


def split(words, top):
    """The options of a command line, each with its value or None; None if the line cannot be understood."""
    valued, options, index = _valued(top), [], 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--" or not word.startswith(("-", "@")) or word == "-":
            break
        if word.startswith("@"):
            options.append((word, None))
        elif word.startswith("--"):
            name, sign, value = word.partition("=")
            if not sign and name in valued:
                value, index = words[index] if index < len(words) else "", index + 1
                sign = "="
            options.append((name, value if sign else None))
        else:
            letters = word[1:]
            while letters:
                name, letters = "-" + letters[0], letters[1:]
                if name in valued:
                    if not letters:
                        letters, index = words[index] if index < len(words) else "", index + 1
                    options.append((name, letters))
                    break
                options.append((name, None))
    return options


def plan(words, top):
    """What to give to the replay of a run, and where the run writes to (None: stderr); None: it is not replayed."""
    options = split(words, top)
    names = [name for name, _ in options]
    follows = names.count("-f") + names.count("--follow-forks")
    output = next((value for name, value in reversed(options) if name in ("-o", "--output")), None)
    if {"-c", "-w"} <= set(names):
        return None  # a recording has the stacks, so -w is obeyed then
    if not options or set(names) & _OTHERS or follows > 1 or (output or "").startswith("|") or ":" in "".join(
            value or "" for name, value in options if name == "--format"):
        return None
    if output and not (output.startswith("/") and not output.startswith("/dev")):
        return None
    replay = []
    for name, value in options:
        if name not in _LEFT_OUT:
            replay += [name] if value is None else [f"{name}={value}"] if name.startswith("--") else [name, value]
    return replay, output


class Recordings:
    """Whether what the current case shows is recorded (made), and whether any of it could be (possible)."""

    def __init__(self, top):
        # With testsuite/trap/run.py, a replay shows what it does without.
        self._wanted = os.path.basename(sys.argv[0]).partition(".")[0] in SHOWN and "TRACER_PROGRAM" not in os.environ
        self._top, self.made, self.possible = top, False, False

    def plan(self, words):
        """What plan() says of a run of the tracer that is to be recorded, else None."""
        planned = plan(words, self._top) if self._wanted else None
        if planned:
            self.possible = True
        return planned if self.made else None


def is_within(lines, others):
    """
    Whether the lines are among the others, in their order; the first one that is not. A line of the tracer's may come amid a
    message of the program's, `/bin/cat: FILE` and then `: REASON`.
    """
    rest = iter(others)
    for line in lines:
        if not any(other == line or (other.endswith(line) and re.match(r"/\S+: ", other)) for other in rest):
            return line
    return None
