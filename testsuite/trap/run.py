#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Runs the test of the same name with the tracer told to catch all calls by breakpoints: what is shown must be the same. Each name here is a link to this file. Cases that name the engine
themselves, or trace nothing, do the same here as there, and are left out (names_engine in harness.py), and so do those of
i386 programs, whose calls are caught by breakpoints in any case.
"""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NAME = os.path.basename(sys.argv[0])


def tracer():
    """A command that adds the option; it takes the place of the tracer, and does not fork."""
    directory = os.path.join(os.environ["TESTDIR"], "trap")
    path = os.path.join(directory, "tracer")
    os.makedirs(directory, exist_ok=True)
    mine = f"{path}.{os.getpid()}"
    with open(mine, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\nexec '{os.path.abspath(os.environ['TRACER'])}' --engine=trap \"$@\"\n")
    os.chmod(mine, 0o755)
    os.rename(mine, path)
    return path


def main():
    for directory in ("e2e", "torture"):
        path = os.path.join(HERE, "..", directory, NAME)
        if os.path.exists(path):
            os.environ["TRACER_PROGRAM"] = os.environ["TRACER"]
            os.environ["TRACER"] = tracer()
            os.execv(sys.executable, [sys.executable, "-B", path, *sys.argv[1:]])
    sys.exit(f"{NAME}: there is no such test")


main()
