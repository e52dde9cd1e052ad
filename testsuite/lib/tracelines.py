# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads the tracer's lines back: calls put together from their halves, signals, exits."""
import re
from dataclasses import dataclass, field

import harness

_PREFIX = re.compile(r"^(?:\[pid (?P<bracket>\d+)\] |(?P<plain>\d+) )?(?P<rest>.*)$", re.S)
_STAMP = re.compile(r"^(?P<stamp>\d\d:\d\d:\d\d(?:\.\d{6})?|\d{9,}\.\d{6}|\s*\d+\.\d{6}) ")
_STAMP_BEGINS = frozenset(" 0123456789")
_POINTER = re.compile(r"^\[(?P<pc>0x[0-9a-f]+|[^]]*\+0x[0-9a-f]+\)?)\] ")
_RESUMED = re.compile(r"^\s*<\.\.\. (?P<name>.+?) resumed> (?P<rest>.*)$", re.S)
_RUNNING = re.compile(r"^(?P<indent>\s*)<\.\.\. (?P<name>.+?) already running>$")
_CALL = re.compile(r"^(?P<indent>\s*)(?P<name>[^\s(<][^(]*)\((?P<rest>.*)$", re.S)
_RESULT = re.compile(r"^(?P<arguments>.*)\)\s*= (?P<result>.*?)(?: <(?P<duration>\d+\.\d+)>)?$", re.S)
_UNFINISHED = re.compile(r"^(?P<arguments>.*?)\s*<unfinished \.\.\.>$", re.S)
_LEFT = re.compile(r"^(?P<arguments>.*?)\)?\s*(?:= )?<(?:no return|unwound)[^>]*>(?: <[\d.]+>)?$", re.S)
_EXIT = re.compile(r"^\+\+\+ (?:exited \(status (?P<status>\d+)\)|killed by (?P<signal>\w+).*) \+\+\+$")
_UNTRACED = re.compile(r"^(?:tracer: not traced: (?P<said>.*?): (?P<reason>.*)|!!! not traced: (?P<listed>.*?): (?P<why>.*) !!!)$")
_SIGNAL = re.compile(r"^--- (?P<name>SIG[\w+]+) \((?P<text>.*)\) ---$")


@dataclass
class Call:
    name: str
    pid: int          # 0 when the line names none
    arguments: str    # as printed, the ones fetched on return included
    result: str = None  # None: not returned
    duration: float = None
    stamp: float = None  # of the entry
    resumed: float = None  # stamp of the line the result is on
    indent: int = 0
    pc: int = None
    left: bool = False  # said not to return


@dataclass
class Trace:
    text: str
    calls: list = field(default_factory=list)
    signals: list = field(default_factory=list)  # (pid, "SIGCHLD")
    exits: list = field(default_factory=list)    # (pid, status or "SIGSEGV")
    execs: int = 0
    other: list = field(default_factory=list)    # what is none of the above
    untraced: list = field(default_factory=list)  # (what, why) of "not traced" lines
    running: list = field(default_factory=list)  # calls that were running at the attach
    orphans: list = field(default_factory=list)  # "resumed" of calls that never began

    def __post_init__(self):
        self._open = {}
        for line in self.text.splitlines():
            self._line(line)

    def _line(self, line):
        found = _PREFIX.match(line)
        pid = int(found["bracket"] or found["plain"] or 0)
        rest, stamp, pc = found["rest"], None, None
        if rest[:1] in _STAMP_BEGINS and (match := _STAMP.match(rest)):
            stamp, rest = _seconds(match["stamp"]), rest[match.end():]
        if rest.startswith("[") and (match := _POINTER.match(rest)):
            pc, rest = match["pc"], rest[match.end():]
        # What a line must have comes before the expression: a trace may have a million lines.
        if rest.startswith(("tracer: not", "!!!")) and (match := _UNTRACED.match(rest)):
            self.untraced.append((match["said"] or match["listed"], match["reason"] or match["why"]))
        elif rest.startswith("tracer: "):
            self.other.append(line)
        elif rest.startswith("+++") and (match := _EXIT.match(rest)):
            self.exits.append((pid, match["signal"] or int(match["status"])))
        elif rest.startswith("---") and (match := _SIGNAL.match(rest)):
            self.signals.append((pid, match["name"]))
        elif rest == "--- Called exec() ---":
            self.execs += 1
            self._open.pop(pid, None)
        elif rest.endswith(" running>") and (match := _RUNNING.match(rest)):
            self.running.append(Call(match["name"], pid, "", stamp=stamp, indent=len(match["indent"]), pc=pc))
            self._open.setdefault(pid, []).append(self.running[-1])
        elif " resumed> " in rest and (match := _RESUMED.match(rest)):
            self._resume(pid, match, stamp, line)
        elif match := _CALL.match(rest):
            self._enter(pid, match, stamp, pc, line)
        else:
            self.other.append(line)

    def _enter(self, pid, match, stamp, pc, line):
        call = Call(match["name"], pid, "", stamp=stamp, indent=len(match["indent"]), pc=pc)
        rest = match["rest"]
        if _is_left(rest) and (left := _LEFT.match(rest)):
            call.arguments, call.left = left["arguments"], True
            if "<unwound" not in rest:  # ltrace says "no return" of calls cut by a signal, too
                self._open.setdefault(pid, []).append(call)
        elif result := _RESULT.match(rest):
            _finish(call, result, stamp)
        elif rest.endswith(" ...>") and (unfinished := _UNFINISHED.match(rest)):
            call.arguments = unfinished["arguments"]
            self._open.setdefault(pid, []).append(call)
        else:
            call.arguments = rest
            self._open.setdefault(pid, []).append(call)
        self.calls.append(call)

    def _resume(self, pid, match, stamp, line):
        waiting = self._open.get(pid, [])
        if not any(match["name"] in (call.name, _bare(call.name)) for call in reversed(waiting)):
            waiting = self._open.get(0, [])  # it began when there was only one thread, and no pid on the lines
        for index in range(len(waiting) - 1, -1, -1):
            if match["name"] in (waiting[index].name, _bare(waiting[index].name)):
                call = waiting.pop(index)
                if _is_left(match["rest"]) and _LEFT.match(match["rest"]):
                    call.left = True
                elif result := _RESULT.match(match["rest"]):
                    _finish(call, result, stamp)
                return
        self.orphans.append(line)

    def named(self, name):
        return [call for call in self.calls if call.name == name]

    def count(self, name):
        return len(self.named(name))

    def returned(self, name):
        return [call for call in self.named(name) if call.result is not None]

    def names(self):
        return [call.name for call in self.calls]


def _is_left(rest):
    return "<no return" in rest or "<unwound" in rest


def _bare(name):
    """`caller->name` and `name@lib` are resumed as `name`."""
    return name.split("->")[-1].split("@")[0]


def _finish(call, result, stamp):
    call.arguments = (call.arguments + result["arguments"]).strip()
    call.result = result["result"]
    call.duration = float(result["duration"]) if result["duration"] else None
    call.resumed = stamp


def _seconds(text):
    if ":" in text:
        hours, minutes, seconds = text.split(":")
        return int(hours) * 3600 + int(minutes) * 60 + float(seconds)
    return float(text)


def counts(text):
    """name → calls, of a table of -c."""
    rows = re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) (\S.*)$", text, re.M)
    harness.check(rows, f"a table in {text[-1000:]!r}")
    return {name: int(number) for number, name in rows}


def counted_inside(text):
    """How many probes were caught inside processes, as a table of -c says."""
    return int(re.search(r"^\d+ probes: (\d+) in-process, \d+ by trap; lost 0$", text, re.M)[1])
