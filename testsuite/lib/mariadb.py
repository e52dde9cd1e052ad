# SPDX-License-Identifier: GPL-2.0-or-later
"""A MariaDB server of the test's own: private directory and socket, no network, gone with the test."""
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile

from harness import Failure, Skip
from target import wait_until

_PR_SET_PDEATHSIG = 1
_SMALL = ["--innodb-buffer-pool-size=8M", "--innodb-log-file-size=4M", "--key-buffer-size=1M",
          "--innodb-flush-log-at-trx-commit=0", "--performance-schema=OFF", "--skip-log-bin",
          "--innodb-use-native-aio=0"]


def _find(*names):
    for name in names:
        for directory in os.environ.get("PATH", "").split(":") + ["/usr/sbin", "/usr/libexec"]:
            path = os.path.join(directory, name)
            if os.access(path, os.X_OK):
                return path
    raise Skip(f"no {names[0]} here")


def _die_with_parent():
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class Server:
    """
    `with Server() as server:` — server.socket takes root without a password. Further options of the server
    may be given; DIRECTORY in them is server.directory.
    """

    def __init__(self, *options):
        self.options = options

    def __enter__(self):
        daemon, install = _find("mariadbd", "mysqld"), _find("mariadb-install-db", "mysql_install_db")
        self.directory = tempfile.mkdtemp(prefix="tracer-db-")  # short: a socket's path has 107 bytes
        self.socket = os.path.join(self.directory, "socket")
        self.log = os.path.join(self.directory, "log")
        self.process = None
        try:
            self._start(daemon, install)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, daemon, install):
        user = pwd.getpwuid(os.geteuid()).pw_name
        common = ["--no-defaults", f"--user={user}", f"--datadir={self.directory}/data"]
        with open(self.log, "wb") as log:
            done = subprocess.run([install, *common, "--auth-root-authentication-method=normal",
                                   "--skip-test-db", "--force", *_SMALL], stdout=log, stderr=log, check=False,
                                  timeout=120)
            if done.returncode != 0:
                raise Failure(f"{install} failed:\n{self.said()}")
            self.process = subprocess.Popen(
                [daemon, *common, f"--socket={self.socket}", "--skip-networking", *_SMALL,
                 *(option.replace("DIRECTORY", self.directory) for option in self.options),
                 f"--pid-file={self.directory}/pid"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True, preexec_fn=_die_with_parent)
        wait_until(lambda: "ready for connections" in self.said() or self.process.poll() is not None,
                   lambda: f"MariaDB:\n{self.said()}")
        if self.process.poll() is not None:
            raise Failure(f"MariaDB ended:\n{self.said()}")

    def said(self):
        with open(self.log, encoding="latin-1") as log:
            return log.read()[-3000:]

    def __exit__(self, *_):
        if self.process:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        shutil.rmtree(self.directory, True)
