# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracers that are killed, at what moments, their guardians, and what becomes of the targets."""
import contextlib
import os
import random
import re
import signal
import time
import uuid

import harness
from harness import Failure, equal, note, scratch
from storm import Brief, read
from target import foreign_mappings, text_changes, wait_until
from torture import report, rounds

KILLS = rounds(8, 100)
GUARDIAN = "tracer-guardian\n"


def guardians(mark, among=None):
    """Pids of the guardians of tracers that were started with that mark in their environment; those among some pids, or all."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")) if among is None else among:
        with contextlib.suppress(OSError):
            if read(f"/proc/{pid}/comm") == GUARDIAN and mark in read(f"/proc/{pid}/environ"):
                found.append(int(pid))
    return found


class Mortal(Brief):
    """A tracer that will be killed."""

    def __init__(self, path, *arguments, env=None):
        self.mark = str(uuid.uuid4())
        super().__init__(path, *arguments, env={"MARK": self.mark, **(env or {})})
        harness.at_end(harness.kill_group, self.process)

    def guardian(self):
        """Its pid, as soon as there is one."""
        return wait_until(lambda: guardians(self.mark), "a guardian")[0]

    def kill(self):
        self.process.kill()
        self.ended()

    def guardian_gone(self):
        # To look at all processes each time would take more of a processor than the guardian does.
        while found := guardians(self.mark):
            wait_until(lambda: not guardians(self.mark, found), lambda: f"the guardian {found} to end")  # pylint: disable=cell-var-from-loop


# ---- moments, and what is left --------------------------------------------------------------

def early(target, tracer, chance):
    """While it attaches."""
    time.sleep(0.0003 * 100 ** chance)


def planted(target, tracer, left=()):
    """Waits until the text is another than what is `left` of an earlier tracer."""
    wait_until(lambda: text_changes(target.pid) != list(left) or tracer.over(), "a breakpoint")


def planting(target, tracer, chance):
    planted(target, tracer)
    time.sleep(0.003 * chance)


def tracing(target, tracer, chance):
    planted(target, tracer)
    time.sleep(0.08 * chance)


def detaching(target, tracer, chance):
    planted(target, tracer)
    time.sleep(0.02)
    tracer.process.send_signal(signal.SIGTERM)
    time.sleep(0.0002 * 100 ** chance)


def is_left(target, before):
    """Whether the guardian has left something behind."""
    return differs(before.verify)


def differs(verify):
    try:
        verify()
        return False
    except Failure as difference:
        note(str(difference))
        return True


def is_marked(target):
    """Whether the guardian has left memory, changed text, or a thread with another mask than its own, which is empty."""
    tids = os.listdir(f"/proc/{target.pid}/task")
    found = (foreign_mappings(target.pid), text_changes(target.pid), [blocked_by(target.pid, tid) for tid in tids])
    if not found[0] and not found[1] and not any(int(mask, 16) for mask in found[2]):
        return False
    note(str(found))
    return True


class Kills:
    """
    What becomes of a target in so many rounds, told at the end, whatever that is: `lived` counts what has been gone through,
    `left` what something was left behind of.
    """

    def __init__(self, label, seed, count=KILLS, detail=""):
        self.label, self.count, self.detail = label, count, detail
        self.random, self.path = random.Random(seed), os.path.join(scratch(), "lines")
        self.lived, self.left = 0, None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        told = [self.detail] if self.detail else []
        if self.left is not None:
            told.append(f"something of the tracer was left {self.left} times")
        report(self.label, self.count, self.lived, None, "; ".join(told))

    def __iter__(self):
        for number in range(self.count):
            yield number
            self.lived += 1

    def chance(self):
        """A moment, from 0 to 1; the same in each run."""
        return self.random.random()

    def end(self, tracer, killed):
        if killed:
            tracer.kill()
        else:
            equal(tracer.end(signal.SIGTERM), 0, "the tracer's exit status")
        tracer.guardian_gone()

    def look(self, is_left):
        self.left = (self.left or 0) + is_left


def stop(target, last):
    target.say("stop")
    target.expect(last)
    equal(target.wait(), 0, "the target's exit status")


def terminate(target):
    """One that ends at SIGTERM."""
    target.process.terminate()
    target.expect("wrong 0")
    equal(target.wait(), 0, "the target's exit status")


def blocked_by(pid, tid):
    return re.search(r"^SigBlk:\t(\w+)", read(f"/proc/{pid}/task/{tid}/status"), re.M)[1]
