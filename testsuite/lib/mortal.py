# SPDX-License-Identifier: GPL-2.0-or-later
"""Tracers that are killed, and their guardians."""
import contextlib
import os
import uuid

import harness
from storm import Brief, read
from target import wait_until

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
