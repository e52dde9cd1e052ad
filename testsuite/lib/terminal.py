# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell on a terminal of its own, for what only a shell can do: job control."""
import contextlib
import fcntl
import os
import pty
import re
import select
import subprocess
import termios
import time

import harness
from harness import Failure, at_end, note


class Shell:
    """An interactive bash. What it and its jobs write is in `.text`."""

    def __init__(self):
        self.master, slave = pty.openpty()
        attributes = termios.tcgetattr(slave)
        attributes[3] = attributes[3] & ~termios.ECHO | termios.NOFLSH  # Ctrl-Z throws nothing away
        termios.tcsetattr(slave, termios.TCSANOW, attributes)
        self.process = subprocess.Popen(
            ["/bin/bash", "--norc", "--noprofile", "--noediting", "-i"], stdin=slave, stdout=slave, stderr=slave,
            env=harness.environment({"PS1": "", "PS2": "", "HISTFILE": None}), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave)
        self.text = ""
        self._seen = 0
        at_end(self._end)
        self.type("PS1= PROMPT_COMMAND=; bind 'set enable-bracketed-paste off' 2>/dev/null; echo shell is re''ady\n")
        self.expect("shell is ready")

    def _end(self):
        note(f"terminal:\n{self.text}")
        for pid in self.children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, 9)
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        os.close(self.master)

    def children(self):
        """The pids of its jobs' first processes."""
        try:
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as file:
                return [int(pid) for pid in file.read().split()]
        except FileNotFoundError:
            return []

    def type(self, text):
        """What somebody types; control characters are the terminal's business."""
        os.write(self.master, text.encode())

    def expect(self, pattern, timeout=harness.TIMEOUT):
        """Waits for something to be written behind what was expected last; the match."""
        limit = time.monotonic() + timeout
        while True:
            if match := re.compile(pattern, re.M).search(self.text, self._seen):
                self._seen = match.end()
                return match
            left = limit - time.monotonic()
            if left <= 0 or not select.select([self.master], [], [], left)[0]:
                raise Failure(f"the terminal does not show {pattern!r}; last: {self.text[self._seen:][-300:]!r}")
            with contextlib.suppress(OSError):
                self.text += os.read(self.master, 65536).decode("latin-1").replace("\r\n", "\n")
