# SPDX-License-Identifier: GPL-2.0-or-later
"""Cases of an end-to-end test, the programs they trace, and how they are run.

A test is an executable file testsuite/e2e/NAME.test:

    from harness import *

    @case
    def exit_status_is_passed_on():
        run = tracer("-o", "/dev/null", calls(), "exit", "7")
        equal(run.status, 7, "exit status")

    @each_abi
    def recursion(abi): ...

    main()

It exits 0 when all cases passed, 1 when one failed, 77 when all were skipped; arguments select the
cases whose name contains one of them. Tracees are compiled when they are first needed, into a cache
that several tests may use at the same time; nothing in here synchronises by sleeping.

Environment: TRACER (the binary under test), top_srcdir, TESTDIR (the cache), CC, CXX, TEST_PATIENCE,
TEST_USER (for root: the user to run the tests as).
"""
import contextlib
import fcntl
import functools
import hashlib
import json
import os
import shlex
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass

import ordinary
import replayed
from aside import Aside
from tracelines import Trace

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.environ.get("top_srcdir") or os.path.join(HERE, "..", ".."))
PROGRAMS = os.path.join(TOP, "testsuite", "e2e", "programs")
TORTURE_PROGRAMS = os.path.join(TOP, "testsuite", "torture", "programs")
TRACER = os.path.abspath(os.environ.get("TRACER") or os.path.join(os.getcwd(), "tracer"))
CACHE = os.path.abspath(os.environ.get("TESTDIR") or "e2e-build")
TIMEOUT = int(os.environ.get("TEST_PATIENCE") or 60)  # seconds after which something hangs; never what a test waits for


class Failure(AssertionError):
    """What a case expected did not happen."""


class Skip(Exception):
    """The machine lacks what a case needs."""


# ---- cases -------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Abi:
    name: str
    flags: tuple
    word: int  # bytes of a pointer


X86_64 = Abi("x86_64", ("-m64",), 8)
I386 = Abi("i386", ("-m32",), 4)


def _is_wide(path):
    """Whether an ELF file is of 64 bits: EI_CLASS."""
    try:
        with open(path, "rb") as file:
            return file.read(5)[4:] != b"\1"
    except OSError:
        return True


# A tracer that is a program of i386 itself traces only such (testsuite/i386-native).
# What is run may be a script that runs it (testsuite/trap/run.py).
NATIVE = X86_64 if _is_wide(os.environ.get("TRACER_PROGRAM", TRACER)) else I386
ABIS = (X86_64, I386) if NATIVE is X86_64 else (I386,)

_recordings = replayed.Recordings(TOP)
_cases = []       # (name, function, arguments)
_evidence = []    # what the current case ran, shown when it fails
_cleanups = []    # to be called at the end of the current case, last one first


def _names_engine(words):
    """Whether an option for the engine is among the words, which may be lists of words."""
    return any(word.startswith("--engine=") if isinstance(word, str) else isinstance(word, (tuple, list)) and _names_engine(word)
               for word in words)


def _is_of_i386(arguments):
    """Whether the case is about programs of i386 alone, where all calls are caught by breakpoints anyway."""
    return NATIVE is X86_64 and I386 in arguments and X86_64 not in arguments


def _add(name, function, arguments):
    # With testsuite/trap/run.py, a tracer whose options name the engine does what it did without.
    if "TRACER_PROGRAM" in os.environ and (getattr(function, "names_engine", False) or _names_engine(arguments)
                                           or _is_of_i386(arguments)):
        return
    _cases.append((name, function, arguments))


def names_engine(function):
    """Marks a case whose tracers all have the option --engine, or trace nothing. Goes innermost."""
    function.names_engine = True
    return function


def case(function):
    _add(function.__name__, function, ())
    return function


def each_abi(function):
    for abi in ABIS:
        _add(f"{function.__name__}[{abi.name}]", function, (abi,))
    return function


def alone(function):
    """Marks a case that measures time: no other test's case runs at the same time. Goes innermost."""
    function.alone = True
    return function


def waits(function):
    """Marks a case that does little but wait, until a time is over: see aside.py. Goes innermost."""
    function.waits = True
    return function


def table(rows, abis=(None,)):
    """Makes a case of every row, a tuple that begins with the row's name."""
    def decorate(function):
        for row in rows:
            for abi in abis:
                label = row[0] + (f",{abi.name}" if abi else "")
                arguments = ((abi,) if abi else ()) + tuple(row[1:])
                _add(f"{function.__name__}[{label}]", function, arguments)
        return function
    return decorate


def at_end(function, *arguments):
    _cleanups.append((function, arguments))


def scratch():
    """A directory of the current case's own."""
    path = tempfile.mkdtemp(prefix="tracer-test-")
    at_end(shutil.rmtree, path, True)
    return path


def interpreter_of(path):
    """The dynamic linker that a program asks for."""
    return re.search(r"interpreter: (\S+)\]", run("readelf", "-l", path).out)[1]


def write_file(path, text, mode=0o644):
    with open(path, "w", encoding="latin-1") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def check(condition, what):
    if not condition:
        raise Failure(what)


def equal(actual, expected, what):
    if actual != expected:
        raise Failure(f"{what}: expected {expected!r}, got {actual!r}")


def note(text):
    """Something to show when the current case fails."""
    _evidence.append(text)


# ---- one at a time -----------------------------------------------------------------------------
# Cases of several files run side by side, except those that measure time: these wait until no
# other case runs. The gate keeps those that come later from overtaking the one that waits.

def raise_priority():
    """Where that is allowed: what is measured is tracer and tracee, not who else is on the machine."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -20)


def runs_tests(function):
    """Marks a case that runs other tests, whose cases take turns. Goes innermost."""
    function.runs_tests = True
    return function


@contextlib.contextmanager
def _turn(exclusive):
    os.makedirs(CACHE, exist_ok=True)
    with open(os.path.join(CACHE, "gate.lock"), "w") as gate, \
            open(os.path.join(CACHE, "cases.lock"), "w") as cases:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(cases, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        before = os.getpriority(os.PRIO_PROCESS, 0)
        if exclusive:
            raise_priority()
        yield
        os.setpriority(os.PRIO_PROCESS, 0, before)


def _clean_up():
    while _cleanups:
        function, arguments = _cleanups.pop()
        try:
            function(*arguments)
        except Exception:  # the verdict is not the clean-up's business
            traceback.print_exc(file=sys.stdout)


def _clip(lines):
    """The beginning and the end of something long."""
    if len(lines) <= 90:
        return lines
    return [*lines[:40], f"... {len(lines) - 80} lines ...", *lines[-40:]]


def _report_failure(name, error):
    """For the table of doc/RELIABILITY.md, which leaves out nothing that failed."""
    path = os.environ.get("TORTURE_REPORT")
    if path:
        row = {"test": os.path.basename(sys.argv[0]), "failed": name, "why": str(error)[:500],
               "date": time.strftime("%Y-%m-%d")}
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def _processor_time():
    """Of this process and of all those it started that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _run_case(name, function, arguments):
    """Its verdict. Where it had the tracer show something that can be recorded, it does so once more, with recordings."""
    _recordings.possible = False
    verdict = _run_once(name, function, arguments)
    if verdict != "ok" or not _recordings.possible:
        return verdict
    _recordings.made = True
    try:
        return _run_once(f"{name}, recorded and replayed", function, arguments)
    finally:
        _recordings.made = False


def _run_once(name, function, arguments):
    _evidence.clear()
    started, used = time.monotonic(), _processor_time()
    try:
        with contextlib.nullcontext() if getattr(function, "runs_tests", False) else _turn(getattr(function, "alone", False)):
            started = time.monotonic()
            try:
                function(*arguments)
            finally:
                _clean_up()
    except Skip as reason:
        print(f"SKIP {name}: {reason}", flush=True)
        return "skip"
    except Exception as error:
        print(f"FAIL {name}: {error if isinstance(error, Failure) else 'unexpected exception'}")
        _report_failure(name, error)
        where = traceback.format_exc().splitlines()
        print("\n".join("    " + line for line in where[-9:]))
        for text in _evidence[-8:]:
            print("\n".join("  | " + line for line in _clip(text.splitlines())))
        sys.stdout.flush()
        return "fail"
    print(f"ok   {name} ({time.monotonic() - started:.1f} s, {_processor_time() - used:.1f} s of CPU)", flush=True)
    return "ok"


def _run_all(cases):
    """The verdict of each case."""
    aside = Aside([case for case in cases if getattr(case[1], "waits", False)], _run_case)
    verdicts = []
    try:
        for name, function, arguments in cases:
            if not getattr(function, "waits", False):
                verdicts.append(_run_case(name, function, arguments))
                aside.step()
        aside.finish()
    except BaseException:
        aside.end()
        raise
    return verdicts + aside.verdicts


def main():
    """Runs the cases registered so far and exits."""
    if not os.access(TRACER, os.X_OK):
        print(f"no tracer at {TRACER}: set TRACER")
        sys.exit(1)
    status = ordinary.rerun(TOP, TRACER, CACHE)
    if status is not None:
        sys.exit(status)
    sys.stdout.reconfigure(errors="backslashreplace")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # run the clean-ups
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)  # under nohup: what is run here does not inherit that
    selected = sys.argv[1:]
    verdicts = _run_all([case for case in _cases if not selected or any(word in case[0] for word in selected)])
    failed = verdicts.count("fail")
    print(f"{verdicts.count('ok')} passed, {failed} failed, {verdicts.count('skip')} skipped")
    sys.exit(1 if failed or not verdicts else 77 if verdicts.count("skip") == len(verdicts) else 0)


# ---- building tracees --------------------------------------------------------------------------

def _compiler(source):
    if source.endswith(".cc"):
        return shlex.split(os.environ.get("CXX") or "g++")
    return shlex.split(os.environ.get("CC") or "gcc")


def _digest(command, inputs):
    """The same for the same sources wherever they lie: see ordinary.rerun()."""
    key = hashlib.sha256("\0".join(word.replace(TOP, "TOP") for word in command).encode())
    for path in inputs:
        with open(path, "rb") as file:
            key.update(file.read())
    return key.hexdigest()[:20]


def _source(name):
    path = os.path.join(PROGRAMS, name)
    return path if os.path.exists(path) else os.path.join(TORTURE_PROGRAMS, name)


def compiled_once(command, paths, output, arguments=()):
    """
    Compiles sources by a command (without -o) into a directory named after all that goes in. Returns the path of the result,
    which is other tests' as well.
    """
    command = [*command, *paths]
    headers = [os.path.join(directory, name) for directory in (PROGRAMS, TORTURE_PROGRAMS)
               for name in sorted(os.listdir(directory)) if name.endswith(".h")]
    directory = os.path.join(CACHE, _digest(command + list(arguments) + [output], list(paths) + headers))
    result = os.path.join(directory, output)
    if os.path.exists(result):
        return result
    os.makedirs(CACHE, exist_ok=True)
    with open(directory + ".lock", "w", encoding="utf-8") as lock:  # another test may be at it
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(result):
            _compile_into(directory, command, output, arguments)
    return result


def _compile_into(directory, command, output, arguments):
    temporary = tempfile.mkdtemp(dir=CACHE)
    os.chmod(temporary, 0o755)
    command = [*command, "-o", os.path.join(temporary, output), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=temporary)
    if done.returncode != 0:
        shutil.rmtree(temporary)
        raise Failure(f"{shlex.join(command)}\n{done.stderr}")
    os.rename(temporary, directory)


def _compile(sources, output, arguments):
    paths = [_source(source) for source in sources]
    return compiled_once([*_compiler(paths[0]), "-O1", "-g0", "-fno-builtin", "-fexceptions", "-w", "-I" + PROGRAMS,
                          "-I" + TORTURE_PROGRAMS], paths, output, arguments)


def _need(abi):
    if abi not in ABIS:
        raise Skip(f"the tracer is one for {NATIVE.name}")
    try:
        _compile(["empty.c"], "empty", abi.flags)
    except Failure as error:
        raise Skip(f"cannot build for {abi.name}") from error


def _link(libraries):
    arguments = []
    for path in libraries:
        arguments += [path, "-Wl,-rpath," + os.path.dirname(path)]
    return arguments


def library(source, soname, *flags, abi=NATIVE, libraries=()):
    """Builds a shared library; its path."""
    _need(abi)
    return _compile([source], soname, [*abi.flags, "-shared", "-fPIC", *flags,
                                     "-Wl,-soname," + soname, *_link(libraries)])


def program(source, *flags, abi=NATIVE, libraries=(), also=()):
    """Builds a program of a source and some others; its path. Its name is the first one's without suffix."""
    _need(abi)
    return _compile([source, *also], source.rsplit(".", 1)[0],
                    [*abi.flags, *flags, "-Wl,--no-as-needed", *_link(libraries), "-ldl", "-lpthread"])


def work(abi=NATIVE, *flags):
    """The library that most tracees call: see programs/libwork.c."""
    return library("libwork.c", "libwork.so.1", "-O2", *flags, abi=abi)


def outer(abi=NATIVE, *flags):
    """A library whose functions call those of libwork."""
    return library("libouter.c", "libouter.so.2", *flags, abi=abi, libraries=[work(abi)])


def calls(abi=NATIVE, *flags):
    """The program that does what its arguments or stdin tell it: see programs/calls.c."""
    return program("calls.c", *flags, abi=abi, libraries=[work(abi), outer(abi)],
                   also=[f"calls_{part}.c" for part in ("plain", "threads", "processes", "modules")])


def plugin(abi=NATIVE, name="plugin.so"):
    """An object for dlopen that calls libwork, in its constructor too."""
    return library("plugin.c", name, abi=abi, libraries=[work(abi)])


def without_sections(path, copy):
    """A copy of an ELF file that has no section headers, as objcopy --strip-section-headers of binutils 2.41 makes it."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    wide = data[4] == 2
    start, length, counts = (0x28, 8, 0x3a) if wide else (0x20, 4, 0x2e)
    data[start:start + length] = bytes(length)  # e_shoff
    data[counts:counts + 6] = bytes(6)  # e_shentsize, e_shnum, e_shstrndx
    with open(copy, "wb") as file:
        file.write(data)
    os.chmod(copy, 0o755)
    return copy


WORK_CONF = os.path.join(PROGRAMS, "work.conf")


def sanitized():
    """Whether the tracer was built with AddressSanitizer, which makes its own cost less even."""
    with open(TRACER, "rb") as file:
        return b"__asan_report_load" in file.read()


# ---- running the tracer ------------------------------------------------------------------------

def environment(extra=None):
    """Nothing of the user's configuration plays a part, nor the list of all tests, which make has in its own variables."""
    values = {name: value for name, value in os.environ.items()
              if not name.startswith(("XDG_", "LD_", "TRACER", "MAKE", "MFLAGS", "TEST", "OTEL_"))}
    values.update(LC_ALL="C", HOME="/dev/null/none", XDG_CONFIG_HOME="/dev/null/none",
                  XDG_CONFIG_DIRS="/nonexistent", COLUMNS="80",
                  TRACER_DATADIR=os.path.join(TOP, "etc"))
    values.update(extra or {})
    return {name: value for name, value in values.items() if value is not None}


@dataclass
class Run:
    """A tracer that has ended. `status` is negative when it was killed by a signal."""
    status: int
    out: str
    err: str

    @functools.cached_property
    def trace(self):
        return Trace(self.err)


def kill_group(process):
    """Ends a process started by us and all that it started in its session."""
    # Of one that is gone the group may still be there, which keeps its number from being used again.
    # When there is a process of that number, the group is gone too, and another has got it.
    if process.returncode is not None and os.path.exists(f"/proc/{process.pid}"):
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)


def run(*command, stdin="", timeout=TIMEOUT, env=None, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=None):
    """Runs a command to its end; kills it and all it started when that takes too long.

    Where recordings are made, what the tracer shows is recorded, too, and compared with its replay.
    """
    planned = _recordings.plan(command[1:]) if command[0] == TRACER and not preexec_fn else None
    if not planned:
        return _run(*command, stdin=stdin, timeout=timeout, env=env, stdout=stdout, stderr=stderr, preexec_fn=preexec_fn)
    path = os.path.join(scratch(), f"recorded-{time.monotonic_ns()}")
    options, output = planned
    # --record alone would show nothing, and what would be the usual output is not known of recipes and templates.
    names, live = {word.partition("=")[0] for word in options}, None
    shown = [] if output or {"-c", "--summary", "--format"} & names else ["--format=text"]
    if shown and ("--template" in names or any(name.startswith("@") for name in names)):
        output = live = os.path.join(scratch(), "live")
        shown = ["-o", live]
    done = _run(TRACER, f"--record={path}", *shown, *command[1:], stdin=stdin, timeout=timeout, env=env, stdout=stdout, stderr=stderr,
                preexec_fn=preexec_fn)
    _compare_replay(path, options, output, done, env)
    if live and os.path.exists(live):
        with open(live, encoding="latin-1") as file:
            done.err += file.read()
    return done


def _compare_replay(path, options, output, done, env):
    """What was recorded, and is replayed with the same options, is what was shown."""
    if done.status == 2 or (output and not os.path.exists(output)) or not os.path.exists(path) or not os.path.getsize(path):
        return
    again = os.path.join(scratch(), "replayed")
    replay = _run(TRACER, f"--replay={path}", *options, *(["-o", again] if output else []), env=env)
    os.unlink(path)
    equal(replay.status, 0, "exit status of the replay")
    if output:
        with open(output, "rb") as live, open(again, "rb") as other:
            equal(other.read().decode("latin-1"), live.read().decode("latin-1"), "what is replayed")
    elif done.err:
        missing = replayed.is_within(replay.out.splitlines(), done.err.splitlines())
        check(missing is None, f"the replay shows what the trace showed, not {missing!r}")


def _run(*command, stdin="", timeout=TIMEOUT, env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=None):
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=stdout, stderr=stderr,
                               env=environment(env), encoding="latin-1", start_new_session=True,
                               preexec_fn=preexec_fn)
    try:
        out, err = process.communicate(stdin, timeout)
    except subprocess.TimeoutExpired as expired:
        kill_group(process)
        out, err = process.communicate()
        note(f"$ {shlex.join(command)}\n{out}\n{err}")
        raise Failure(f"{shlex.join(command)} did not end within {timeout} s") from expired
    finally:
        kill_group(process)
    note(f"$ {shlex.join(command)}\n-> {process.returncode}\n{out or ''}\n--- stderr\n{err or ''}")
    return Run(process.returncode, out or "", err or "")


def tracer(*arguments, **options):
    """Runs the tracer; its lines are in .trace unless -o sent them elsewhere."""
    return run(TRACER, *arguments, **options)
