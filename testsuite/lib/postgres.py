# SPDX-License-Identifier: GPL-2.0-or-later
"""A PostgreSQL server of the test's own: private directory and socket, no network, gone with the test."""
import contextlib
import ctypes
import glob
import os
import shutil
import signal
import subprocess
import tempfile

import ordinary
from harness import Failure, Skip
from target import wait_until

_PR_SET_PDEATHSIG = 1
_SETTINGS = {"listen_addresses": "", "fsync": "off", "shared_buffers": "1MB", "max_connections": "10", "autovacuum": "off",
             "max_parallel_workers": "0", "dynamic_shared_memory_type": "mmap"}


def _find(name):
    for path in [*sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), reverse=True), shutil.which(name)]:
        if path and os.access(path, os.X_OK):
            return path
    raise Skip(f"no {name} here")


class Server:
    """
    `with Server() as server:` — what connects to server.directory as postgres needs no password. server.log has what it
    says. Further settings may be given.
    """

    def __init__(self, **settings):
        self.settings = {**_SETTINGS, **settings}

    def __enter__(self):
        create, daemon = _find("initdb"), _find("postgres")
        self.directory = tempfile.mkdtemp(prefix="tracer-pg-")  # short: a socket's path has 107 bytes
        self.log = os.path.join(self.directory, "log")
        self.process = None
        # It does not run as root.
        self._become = ordinary.become() if os.geteuid() == 0 else lambda: None
        if os.geteuid() == 0:
            shutil.chown(self.directory, ordinary.NAME)
        os.chmod(self.directory, 0o755)
        try:
            self._start(create, daemon)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _prepare(self):
        self._become()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)

    def _start(self, create, daemon):
        data = os.path.join(self.directory, "data")
        with open(self.log, "wb") as log:
            common = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log, "cwd": "/", "preexec_fn": self._prepare}
            done = subprocess.run([create, "-D", data, "-A", "trust", "-U", "postgres", "--no-sync", "--no-locale", "-E", "UTF8"],
                                  check=False, timeout=120, **common)
            if done.returncode != 0:
                raise Failure(f"{create} failed:\n{self.said()}")
            settings = [word for name, value in self.settings.items() for word in ("-c", f"{name}={value}")]
            self.process = subprocess.Popen([daemon, "-D", data, "-k", self.directory, *settings], start_new_session=True, **common)
        wait_until(lambda: "ready to accept connections" in self.said() or self.process.poll() is not None,
                   lambda: f"PostgreSQL:\n{self.said()}")
        if self.process.poll() is not None:
            raise Failure(f"PostgreSQL ended:\n{self.said()}")

    def said(self):
        with open(self.log, encoding="latin-1") as log:
            return log.read()[-3000:]

    def __exit__(self, *_):
        if self.process:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGINT)  # without waiting for clients
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, True)
