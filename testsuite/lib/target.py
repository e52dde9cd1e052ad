# SPDX-License-Identifier: GPL-2.0-or-later
"""Processes to attach to, attached tracers, and what must be true of a target after a detach."""
import ctypes
import contextlib
import functools
import itertools
import os
import re
import select
import signal
import subprocess
import time

import harness
from harness import Failure, at_end, check, equal, kill_group, note
from tracelines import Trace

_pings = itertools.count(1)  # a number of its own for each, small enough to be shown in decimal
_PAUSE = 0.003  # between two looks at something that will happen by itself


def wait_until(condition, what, timeout=harness.TIMEOUT):
    """Looks until `condition()` gives something true, which it returns."""
    limit = time.monotonic() + timeout
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > limit:
            raise Failure(f"waited {timeout} s in vain for {what() if callable(what) else what}")
        time.sleep(_PAUSE)


# ---- what /proc says ---------------------------------------------------------------------------

def _read(path, start=0):
    try:
        with open(path, "rb") as file:
            file.seek(start)
            return file.read().decode("latin-1")
    except (FileNotFoundError, ProcessLookupError, PermissionError):  # gone, or out of reach
        return ""


def status_field(pid, name):
    match = re.search(rf"^{name}:\s*(.*)$", _read(f"/proc/{pid}/status"), re.M)
    return match[1] if match else ""


def _thread_state(pid, tid):
    """(state letter, pid of the tracer or 0), if the thread lives."""
    # At once: the thread may have ended before the second of two reads. The kernel looks at the tracer first.
    fields = dict(re.findall(r"^(State|TracerPid):\t(\w+)", _read(f"/proc/{pid}/task/{tid}/status"), re.M))
    if not fields or fields["State"] in "ZX":  # gone or going
        return None
    return fields["State"], int(fields["TracerPid"])


def thread_states(pid):
    """tid → (state letter, pid of the tracer or 0), of the threads that live"""
    states = {}
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return states
    for tid in tids:
        if state := _thread_state(pid, tid):
            states[int(tid)] = state
    return states


def living_task(pid):
    """One of the process's threads whose memory can be looked at: its main thread, unless that alone has ended."""
    return pid if _thread_state(pid, pid) else next(iter(thread_states(pid)), pid)


def executable_mappings(pid):
    """(start, end, offset, name) of what can be executed, without the kernel's own pages."""
    found = []
    for line in _read(f"/proc/{living_task(pid)}/maps").splitlines():
        fields = line.split(None, 5)
        name = fields[5] if len(fields) > 5 else ""
        if "x" in fields[1] and name not in ("[vdso]", "[vsyscall]"):
            start, end = (int(number, 16) for number in fields[0].split("-"))
            found.append((start, end, int(fields[2], 16), name))
    return found


def foreign_mappings(pid):
    """Executable memory that comes from no file on disk."""
    return {(start, end, name) for start, end, _, name in executable_mappings(pid)
            if not name.startswith("/") or name.startswith(("/memfd:", "/dev/zero"))}


@functools.lru_cache(32)
def _bytes_of(name, start, length, _):
    with open(name, "rb") as file:
        file.seek(start)
        return file.read(length)


def _file_bytes(name, start, length):
    """A part of a file. It is asked for again and again while a test waits, and read when the file has changed."""
    status = os.stat(name)
    return _bytes_of(name, start, length, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns))


def _first_difference(some, others):
    """Where it is. Tests look for breakpoints until there are others than there were, and megabytes lie before these."""
    block = next(at for at in range(0, len(others), 4096) if some[at:at + 4096] != others[at:at + 4096])
    return next(at for at in range(block, len(others)) if some[at:at + 1] != others[at:at + 1])


def text_changes(pid):
    """Where executable file mappings differ from their files: a list of (name, offset, there, file)."""
    changes = []
    with open(f"/proc/{living_task(pid)}/mem", "rb", 0) as memory:
        for start, end, offset, name in executable_mappings(pid):
            if not name.startswith("/") or name.endswith(" (deleted)"):
                continue
            expected = _file_bytes(name, offset, end - start)
            memory.seek(start)
            actual = memory.read(len(expected))
            if actual != expected:
                at = _first_difference(actual, expected)
                changes.append((name, hex(offset + at), actual[at:at + 8].hex(),
                                expected[at:at + 8].hex()))
    return changes


def changed_bytes(pid, name):
    """
    How many bytes of a file's executable mapping are not the file's: breakpoints, while none is passed. Not where that has
    zeros, behind all code: what the tracer puts there before (for system calls of its own) is none.
    """
    with open(f"/proc/{living_task(pid)}/mem", "rb", 0) as memory:
        for start, end, offset, path in executable_mappings(pid):
            if os.path.basename(path) == name:
                with open(path, "rb") as file:
                    file.seek(offset)
                    expected = file.read(end - start)
                memory.seek(start)
                return sum(there != own and own != 0 for there, own in zip(memory.read(len(expected)), expected))
    return 0


# ---- targets -----------------------------------------------------------------------------------

def _let_anyone_trace():
    """
    For an ordinary user where Yama lets only ancestors attach (ptrace_scope 1): the target allows it, as
    a service would that wants to be traced. It lasts across exec.
    """
    if os.geteuid() != 0 and _read("/proc/sys/kernel/yama/ptrace_scope").strip() == "1":
        ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1))  # PR_SET_PTRACER, PR_SET_PTRACER_ANY


def readable(stream, seconds):
    """Whether it can be read within that time; its number may be any."""
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


class Target:
    """
    A process that says "ready" when it is, and then answers each line of its stdin with some lines,
    the last of which is "done". It is killed at the end of the case.
    """

    def __init__(self, *command, env=None, ready="ready", preexec_fn=None, stderr=None):
        self.command = command
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=stderr, env=harness.environment(env), start_new_session=True,
                                        preexec_fn=preexec_fn or _let_anyone_trace)
        self._pending = b""
        self.said = []
        at_end(self._end)
        if ready:
            self.expect(ready)
        self.foreign = foreign_mappings(self.pid)

    def _end(self):
        kill_group(self.process)
        with contextlib.suppress(BrokenPipeError):  # it had died before it read all
            self.process.stdin.close()
        self.process.stdout.close()

    @property
    def pid(self):
        return self.process.pid

    def _line(self, limit, awaited):
        while b"\n" not in self._pending:
            left = limit - time.monotonic()
            if left <= 0 or not readable(self.process.stdout, left):
                raise Failure(f"{self.command[0]} did not say {awaited!r} in time; it said {self.said[-9:]}, "
                              f"its threads: {thread_states(self.pid)}")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                raise Failure(f"{self.command[0]} ended (status {self.process.wait(10)}) before it said "
                              f"{awaited!r}; it said {self.said[-9:]}")
            self._pending += data
        line, self._pending = self._pending.split(b"\n", 1)
        return line.decode("latin-1")

    def expect(self, pattern, timeout=harness.TIMEOUT):
        """Reads lines up to one that matches wholly; returns the match."""
        limit = time.monotonic() + timeout
        while True:
            line = self._line(limit, pattern)
            self.said.append(line)
            if match := re.fullmatch(pattern, line):
                return match

    def rest(self, timeout=harness.TIMEOUT):
        """All that it has still to say, to the end of its stdout."""
        limit = time.monotonic() + timeout
        text, self._pending = [self._pending], b""
        while True:
            left = limit - time.monotonic()
            if left <= 0 or not readable(self.process.stdout, left):
                raise Failure(f"{self.command[0]} does not end, its threads: {thread_states(self.pid)}; "
                              f"it said {b''.join(text)[-500:]}")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return b"".join(text).decode("latin-1")
            text.append(data)

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, line, answer=None):
        """Says a line and reads all of the answer, which ends with "done"; the match of `answer`."""
        self.say(line)
        match = self.expect(answer) if answer else None
        self.expect("done")
        return match

    def wait(self, timeout=harness.TIMEOUT):
        """Its exit status, when it ends of its own."""
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure(f"{self.command[0]} does not end: {thread_states(self.pid)}") from None

    def unharmed(self, pid=None):
        """What must be true of a process that is traced no more (or never was)."""
        pid = pid or self.pid
        if pid == self.pid and self.process.poll() is not None:
            raise Failure(f"the target has ended: {self.process.returncode}; it said {self.rest()!r}")
        # Resuming the threads is the detaching tracer's last step; they run on by themselves.
        equal({tid: tracer for tid, (_, tracer) in thread_states(pid).items() if tracer}, {},
              "threads that still have a tracer")
        wait_until(lambda: not any(state in "tT" for state, _ in thread_states(pid).values()),
                   lambda: f"stopped threads to go on: {thread_states(pid)}", 10)
        equal(text_changes(pid), [], "executable mappings that differ from their files")
        equal(foreign_mappings(pid) - self.foreign, set(), "executable memory left behind")


class Attached:
    """
    A tracer attached to targets, its lines collected. `ping`: wait until each target's target_ping()
    shows up, which programs/calls.c calls when asked to: then everything else is planted, too.
    `through`: the words of a command that runs the tracer (and does not fork).
    """

    def __init__(self, targets, *arguments, ping=True, env=None, through=()):
        self.targets = [targets] if isinstance(targets, Target) else list(targets)
        self.lines_path = os.path.join(harness.scratch(), "lines")
        pids = [word for target in self.targets for word in ("-p", str(target.pid))]
        extra = ["-x", "target_ping"] if ping else []
        self.command = [*through, harness.TRACER, *arguments, *extra, *pids]
        with open(self.lines_path, "wb") as lines:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=lines,
                                            stderr=lines, env=harness.environment(env),
                                            start_new_session=True)
        at_end(self._end)
        if ping:
            for target in self.targets:
                self.ping(target)

    def _end(self):
        kill_group(self.process)
        note(f"$ {' '.join(self.command)}\n-> {self.process.returncode}\n{self.text()}")

    def text(self):
        return _read(self.lines_path)

    @property
    def trace(self):
        return Trace(self.text())

    def messages(self):
        """All lines but those that say that tracing has begun."""
        return re.sub(r"^tracer: attached to process .*\n", "", self.text(), flags=re.M)

    def ping(self, target):
        """Asks the target to call target_ping(n), again and again, until one of them is traced."""
        limit = time.monotonic() + harness.TIMEOUT
        while True:
            number = next(_pings)
            target.ask(f"ping {number}")
            for _ in range(20):  # the line may still be on its way
                if re.search(rf"target_ping\({number}\b", self.text()):
                    return
                if self.process.poll() is not None:
                    raise Failure(f"the tracer ended ({self.process.returncode}) instead of tracing")
                time.sleep(_PAUSE)
            check(time.monotonic() < limit, "no call of the target is traced")

    def wait_planted(self):
        """For targets that cannot be pinged: waits until all is planted, as the tracer says, and they run on."""
        for target in self.targets:
            self.wait_for(rf"^tracer: attached to process {target.pid} ")
            wait_until(lambda pid=target.pid: self.process.poll() is not None or all(
                state not in "tT" and tracer == self.process.pid for state, tracer in thread_states(pid).values()),
                       "the target to run on")
        check(self.process.poll() is None, f"the tracer ended: {self.process.returncode}")

    def wait_for(self, pattern, timeout=harness.TIMEOUT):
        """Waits for a line that contains a match; returns the match. Each line is looked at once: there may be a million a second."""
        whole = 0

        def search():
            nonlocal whole
            text = _read(self.lines_path, whole)
            whole += text.rfind("\n") + 1
            return re.search(pattern, text, re.M)

        def look():
            ended = self.process.poll() is not None
            found = search()
            check(found or not ended, f"the tracer ended ({self.process.returncode}) without {pattern!r}")
            return found
        return wait_until(look, f"a line with {pattern!r}", timeout)

    def wait_calls(self, name, number):
        """Waits until so many calls of a function have returned."""
        wait_until(lambda: len(self.trace.returned(name)) >= number or self.process.poll() is not None,
                   lambda: f"{number} calls of {name}: there are {len(self.trace.returned(name))}")
        return self.trace

    def stop(self, number=signal.SIGINT, timeout=harness.TIMEOUT):
        """Sends the signal and waits for the tracer to end; its status."""
        self.process.send_signal(number)
        return self.ended(timeout)

    def ended(self, timeout=harness.TIMEOUT):
        try:
            return self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Failure("the tracer does not end") from None

    def detach(self, number=signal.SIGINT, lines=""):
        """Detaches and checks that nothing is left behind; the trace, of the lines that have a match."""
        equal(self.stop(number), 0, "tracer's exit status after a detach")
        for target in self.targets:
            target.unharmed()
        return Trace("".join(line for line in self.text().splitlines(keepends=True) if re.search(lines, line)) if lines else self.text())
