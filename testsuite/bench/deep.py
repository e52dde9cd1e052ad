# SPDX-License-Identifier: GPL-2.0-or-later
"""deep.py CALLS RESULT DEPTH: calls getppid(2) from so many frames deep, and writes "ns stops"."""
import os
import sys
import time


def calls(count):
    start = time.monotonic_ns()
    for _ in range(count):
        os.getppid()
    return time.monotonic_ns() - start


def deeper(depth, count):
    return deeper(depth - 1, count) if depth else calls(count)


calls(100)
taken = deeper(int(sys.argv[3]), int(sys.argv[1]))
with open(sys.argv[2], "w", encoding="ascii") as result:
    result.write(f"{taken} 0\n")
