# SPDX-License-Identifier: GPL-2.0-or-later
"""What README.md and tracer(1) tell people to do."""
import os
import re
import shlex

import harness


def slow_queries(driver):
    """The options that the table of slow queries has for a driver, with stamps that can be calculated with, without -p PID."""
    with open(os.path.join(harness.TOP, "README.md"), encoding="utf-8") as file:
        row = next(line for line in file if line.startswith("|") and driver in line)
    return [word.replace("-ttTg", "-tttTg") for word in shlex.split(re.search("`tracer (.*) -p PID`", row)[1])]


def _read(*path):
    with open(os.path.join(harness.TOP, *path), encoding="utf-8") as file:
        return file.read()


def _command(text):
    """A line of a session or an example without its comment; None: it is no command of the tracer's."""
    text = re.split(r"\s{2,}|\s+#", text.strip().removeprefix("$ "))[0]
    return text if re.match(r"(\w+=\S+ )?(\./)?tracer ", text) else None


def commands_of_readme():
    """In blocks of code, in tables and within sentences, each once."""
    text = _read("README.md")
    blocks = re.findall(r"^```\n(.*?)^```", text, re.M | re.S)
    lines = [line for block in blocks for line in block.splitlines() if not line.startswith(" ")]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```\n.*?^```", "", text, flags=re.M | re.S))
    return list(dict.fromkeys(filter(None, map(_command, lines))))


def commands_of_manual():
    """The examples of tracer(1), without what troff needs."""
    examples = _read("doc", "tracer.1").split(".SH EXAMPLES")[1].split("\n.SH ")[0]
    found = []
    for line in re.findall(r"^\.B (.*)$", examples, re.M):
        for troff, plain in ((r"\-", "-"), (r"\(aq", "'"), (r"\(dq", '"'), (r"\fIPID\fP", "PID")):
            line = line.replace(troff, plain)
        found.append(_command(line))
    return list(dict.fromkeys(filter(None, found)))
