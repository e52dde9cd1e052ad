# SPDX-License-Identifier: GPL-2.0-or-later
"""What root needs to do something as an ordinary user: tracer and tracees where that user can reach them.

With TEST_USER in the environment, root runs whole tests so: see rerun(), which harness.main() calls.
"""
import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

NAME = os.environ.get("TEST_USER") or "nobody"


def become(name=NAME):
    """A function for preexec_fn: gives up root for good."""
    user = pwd.getpwnam(name)

    def take():
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)
    return take


def place(parent=None):
    """A new directory that every user can reach and enter."""
    path = tempfile.mkdtemp(prefix="tracer-user-", dir=parent)
    os.chmod(path, 0o755)
    return path


def can_reach(path, name=NAME):
    done = subprocess.run(["/bin/sh", "-c", 'test -r "$0"', path], preexec_fn=become(name), check=False)
    return done.returncode == 0


def _tree(source, destination, *parts):
    for part in parts:
        there = os.path.join(destination, part)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if os.path.isdir(os.path.join(source, part)):
            shutil.copytree(os.path.join(source, part), there,
                            ignore=shutil.ignore_patterns("__pycache__", "work", "*.log", "*.trs"))
        else:
            shutil.copy(os.path.join(source, part), there)


def _cache(directory, cache, user):
    """One that several tests share, where that is possible: compiling takes most of their time."""
    shared = f"{cache}-{user.pw_name}"
    with contextlib.suppress(FileExistsError):
        os.makedirs(shared)
    os.chown(shared, user.pw_uid, user.pw_gid)
    if can_reach(shared):
        return shared
    own = os.path.join(directory, "work")
    os.makedirs(own)
    os.chown(own, user.pw_uid, user.pw_gid)
    return own


def rerun(top, tracer, cache, arguments=None):
    """
    Root with TEST_USER set: runs this very test again as that user, from a copy, and returns its exit
    status. None: there is nothing to be given up.
    """
    if os.geteuid() != 0 or not os.environ.get("TEST_USER"):
        return None
    user = pwd.getpwnam(NAME)
    directory = place()
    try:
        _tree(top, directory, "etc", "completions", "testsuite/lib", "testsuite/e2e", "testsuite/torture", "testsuite/demo")
        shutil.copy(tracer, os.path.join(directory, "tracer"))
        script = os.path.join(directory, os.path.relpath(os.path.abspath(sys.argv[0]), top))
        environment = {name: value for name, value in os.environ.items() if name != "TEST_USER"}
        environment.update(TRACER=os.path.join(directory, "tracer"), top_srcdir=directory,
                           TRACER_DATADIR=os.path.join(directory, "etc"), TMPDIR="/tmp", HOME="/dev/null/none",
                           PATH="/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin",
                           TESTDIR=_cache(directory, cache, user), PYTHONDONTWRITEBYTECODE="1")
        command = [sys.executable, "-B", script, *(sys.argv[1:] if arguments is None else arguments)]
        return subprocess.run(command, env=environment, preexec_fn=become(), cwd=directory, check=False).returncode
    finally:
        shutil.rmtree(directory, ignore_errors=True)
