# SPDX-License-Identifier: GPL-2.0-or-later
"""A target in a storm: programs/storm.c, all that /proc tells of it, and tracers of short life."""
import contextlib
import os
import re
import signal
import subprocess

import harness
from harness import TRACER, Failure, equal, library, program
from target import Target, thread_states, wait_until

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE)
SHAPES = ("leaf", "global", "many", "floating", "wide", "text", "nested", "tail", "recursive", "calling")
FIFTY = tuple(word for shape in SHAPES for word in ("-x", f"{shape}_?@libcounted.so.1"))
OPTIONS = (
    ("-g", "-x", "*@libcounted.so.1"),
    ("-e", "*"),
    ("-f", "-g", "-x", "nested_?", "-x", "leaf_?", "-x", "tail_?", "-x", "recursive_?"),
    ("-c", "-e", "*@MAIN", "-x", "pthread_*", "-x", "clock_nanosleep"),
)


def libcounted(abi):
    return library("libcounted.c", "libcounted.so.1", "-O2", abi=abi)


def storm(abi, *arguments):
    return Target(program("storm.c", abi=abi, libraries=[libcounted(abi)], also=["counted_calls.c"]), *arguments)


# ---- what /proc tells of a process -------------------------------------------------------------

# Numbers that change while a process just runs; and queued signals, which are counted per user.
_MOVING = re.compile(r"^(?:State|Threads|Vm\w+|Rss\w+|SigQ|\w*voluntary_ctxt_switches):")


def read(path):
    with open(path, encoding="latin-1") as file:
        return file.read()


def _status(path):
    lines = read(f"{path}/status").splitlines()
    return {line.split(":")[0]: line for line in lines if not _MOVING.match(line)}


def _descriptors(pid):
    return {number: os.readlink(f"/proc/{pid}/fd/{number}") for number in os.listdir(f"/proc/{pid}/fd")}


def _maps(pid, all_of_them):
    """Those of files and of the program's own memory; anonymous ones, as of threads' stacks, only if all."""
    lines = read(f"/proc/{pid}/maps").splitlines()
    return [line for line in lines if all_of_them or len(line.split(None, 5)) == 6 or "x" in line.split()[1]]


def picture(pid, threads, whole):
    """All that must be the same before and after. `whole`: the process makes no threads now."""
    shown = {f"status of {tid}": _status(f"/proc/{pid}/task/{tid}") for tid in threads}
    shown["descriptors"] = _descriptors(pid)
    shown["mappings"] = _maps(pid, whole)
    if whole:
        shown["threads"] = sorted(os.listdir(f"/proc/{pid}/task"))
        for name in ("limits", "personality", "coredump_filter", "oom_score_adj", "auxv", "timers"):
            with contextlib.suppress(OSError):  # not every kernel has all of them
                shown[name] = read(f"/proc/{pid}/{name}")
    return shown


def difference(before, after):
    found = []
    for key in before:
        old, new = before[key], after[key]
        if old != new:
            if isinstance(old, dict):
                old, new = sorted(map(str, old.items())), sorted(map(str, new.items()))
            if isinstance(old, list):
                old, new = [x for x in old if x not in new], [x for x in new if x not in old]
            found.append(f"{key}: was {old}, is {new}")
    return found


class Unchanging:
    """Compares a target with what it was at first."""

    def __init__(self, target, breeds):
        self.target, self.breeds = target, breeds
        self._rest(True)
        self.threads = sorted(thread_states(target.pid))
        self.whole = picture(target.pid, self.threads, True)
        # Who makes threads blocks all signals now and then.
        self.steady = [tid for tid in self.threads if read(f"/proc/{tid}/comm") != "breeder\n"]
        self.part = picture(target.pid, self.steady, False)
        self._rest(False)

    def _rest(self, quiet):
        if self.breeds:
            self.target.ask("quiet" if quiet else "loud")

    def verify(self):
        self.target.unharmed()
        self._compare(not self.breeds)

    def verify_at_rest(self):
        self._rest(True)
        self.target.unharmed()
        self._compare(True)

    def _compare(self, whole):
        after = picture(self.target.pid, self.threads if whole else self.steady, whole)
        equal(difference(self.whole if whole else self.part, after), [], "what differs from before")


# ---- tracers of short life ---------------------------------------------------------------------

def _living_members(group):
    """Pids of the processes of a group that are more than zombies, for whom nobody has waited yet."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            state, _, its_group = read(f"/proc/{pid}/stat").rsplit(")", 1)[1].split()[:3]
            if int(its_group) == group and state not in "ZX":
                found.append(int(pid))
    return found


class Brief:
    """A tracer that will be told to end."""

    def __init__(self, path, *arguments, env=None):
        self.path = path
        with open(path, "wb") as lines:
            self.process = subprocess.Popen([TRACER, *arguments], stdin=subprocess.DEVNULL, stdout=lines,
                                            stderr=lines, env=harness.environment(env), start_new_session=True)

    def text(self):
        return read(self.path)

    def over(self):
        return self.process.poll() is not None

    def end(self, number):
        self.process.send_signal(number)
        return self.ended()

    def ended(self):
        try:
            return self.process.wait(harness.TIMEOUT)
        except subprocess.TimeoutExpired:
            raise Failure(f"the tracer does not end: {thread_states(self.process.pid)}") from None

    def nothing_left(self):
        """Nor are processes of its own."""
        wait_until(lambda: not _living_members(self.process.pid), lambda:
                   f"the tracer's own processes to end: {_living_members(self.process.pid)}")


def seized(target, tracer):
    return any(number == tracer.process.pid for _, number in thread_states(target.pid).values())
