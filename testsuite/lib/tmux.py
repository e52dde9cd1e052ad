# SPDX-License-Identifier: GPL-2.0-or-later
"""A shell in tmux, whose screen can be read: for programs that use all of it."""
import os
import re
import shlex
import shutil
import subprocess
import tempfile

import harness
from harness import Failure, Skip, at_end, note
from target import wait_until


class Screen:
    """An interactive shell on a screen of that size. tmux runs as a server of its own."""

    def __init__(self, columns=80, lines=24, env=None):
        if not shutil.which("tmux"):
            raise Skip("there is no tmux")
        directory = tempfile.mkdtemp(dir="/tmp")  # the path of a socket must be short
        self._socket = os.path.join(directory, "s")
        self._env = harness.environment({"LC_ALL": "C.UTF-8", "COLUMNS": None, "TMUX": None, "PS1": "", "HISTFILE": None, **(env or {})})
        at_end(self._end, directory)
        # Each word of the environment is the shell's, but for TERM, which is of tmux's choice.
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(lines), "exec /bin/bash --norc --noprofile --noediting")
        self.command("PS1='$ '; clear")
        self.wait_for(r"^\$$")

    def _end(self, directory):
        note(f"screen:\n{self.text()}")
        self._tmux("kill-server")
        shutil.rmtree(directory, ignore_errors=True)

    def _tmux(self, *words):
        done = subprocess.run(["tmux", "-S", self._socket, *words], env=self._env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, encoding="utf-8", timeout=harness.TIMEOUT, check=False)
        return done.stdout

    def keys(self, *keys):
        """Keys by their names in tmux (Enter, Escape, Up, C-c), or as they are."""
        self._tmux("send-keys", "--", *keys)

    def type(self, text):
        self._tmux("send-keys", "-l", "--", text)

    def command(self, *words):
        """Runs a command line, or the words of one."""
        self.type(words[0] if len(words) == 1 else shlex.join(words))
        self.keys("Enter")

    def resize(self, columns, lines):
        self._tmux("resize-window", "-x", str(columns), "-y", str(lines))

    def text(self):
        """What is on the screen, without blanks at the ends of lines."""
        return self._tmux("capture-pane", "-p").rstrip("\n")

    def styled(self):
        """The same with its colours, as escape sequences."""
        return self._tmux("capture-pane", "-p", "-e").rstrip("\n")

    def wait_for(self, what):
        """Waits until the screen shows a pattern, or until the condition on its text holds; its text then."""
        shows = what if callable(what) else re.compile(what, re.M).search

        def look():
            text = self.text()
            return text if shows(text) else None

        try:
            return wait_until(look, "the screen")
        except Failure as failure:
            raise Failure(f"{failure}: it does not show {what}:\n{self.text()}") from None
