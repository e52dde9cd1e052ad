# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs commands all the time, each made by vfork(2) with all signals blocked, and looks what comes of them.

Lines on stdin, each answered with "done": "quiet" and "loud": it pauses, and goes on; "stop", which says how often
something went wrong.
"""
import select
import subprocess
import sys


def goes_wrong():
    return subprocess.run(["/bin/echo", "here"], stdout=subprocess.PIPE).stdout != b"here\n"


def main():
    wrong, line = 0, ""
    print("ready", flush=True)
    while not line.startswith("stop"):
        pauses = line.startswith("quiet")
        if not pauses:
            wrong += goes_wrong()
        if pauses or select.select([sys.stdin], [], [], 0)[0]:
            line = sys.stdin.readline()
            print("done", flush=True)
    print("wrong", wrong, flush=True)


main()
