# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases that do little but wait: see harness.waits()."""
import os
import signal
import sys
import tempfile

VERDICTS = ("ok", "fail", "skip")


class Aside:
    """Runs cases that wait as processes of their own, some at a time, while the file's other cases run."""

    AT_ONCE = 4

    def __init__(self, cases, run_case):
        self._run_case = run_case  # gives one of VERDICTS
        self._cases, self._running, self.verdicts = list(cases), {}, []
        self.step()

    def _start(self, name, function, arguments):
        output = tempfile.TemporaryFile()
        pid = os.fork()
        if pid == 0:
            os.dup2(output.fileno(), sys.stdout.fileno())
            self._running.clear()  # are not this one's to end
            os._exit(VERDICTS.index(self._run_case(name, function, arguments)))
        self._running[pid] = (name, output)

    def _take(self, pid, status):
        name, output = self._running.pop(pid)
        code = os.waitstatus_to_exitcode(status)
        output.seek(0)
        sys.stdout.write(output.read().decode(errors="backslashreplace"))
        if not 0 <= code < len(VERDICTS):
            print(f"FAIL {name}: its process ended with {code}")
            code = VERDICTS.index("fail")
        sys.stdout.flush()
        self.verdicts.append(VERDICTS[code])

    def step(self, flags=os.WNOHANG):
        """Takes what has ended, and starts others in its place. With flags 0, waits for one of them."""
        for pid in list(self._running):
            found, status = os.waitpid(pid, flags)
            if found:
                self._take(pid, status)
                break
        while self._cases and len(self._running) < self.AT_ONCE:
            self._start(*self._cases.pop(0))

    def finish(self):
        while self._running:
            self.step(0)

    def end(self):
        """For a test that is cut short: each runs its clean-ups."""
        for pid in self._running:
            os.kill(pid, signal.SIGTERM)
        for pid in self._running:
            os.waitpid(pid, 0)
