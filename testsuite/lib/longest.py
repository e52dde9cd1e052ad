#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests and cases took longest, as logs of `make check` say: longest.py LOG..."""
import os
import re
import sys
from pathlib import Path

FILES, CASES = 8, 12


def cases_of(log):
    """(seconds, of these seconds of a processor, name) of each case in the log of a test."""
    found = re.findall(r"^ok   (\S.*) \((\d+\.\d) s, (\d+\.\d) s of CPU\)$", log.read_text(errors="replace"), re.M)
    return [(float(seconds), float(used), name) for name, seconds, used in found]


def show(rows, limit):
    for seconds, used, name in sorted(rows, reverse=True)[:limit]:
        print(f"{seconds:6.1f} s  {used:6.1f} s of CPU  {name}")


def main():
    logs = [Path(name) for name in sys.argv[1:] if os.path.exists(name)]
    by_file = {f"{log.parent.name}/{log.stem}": cases_of(log) for log in logs}
    whole = [(*(sum(case[column] for case in cases) for column in (0, 1)), file) for file, cases in by_file.items() if cases]
    if not whole:
        return
    seconds, used = (sum(row[column] for row in whole) for column in (0, 1))
    print(f"{seconds:.0f} s of tests, {used:.0f} s of CPU, on {os.cpu_count()} processors; the longest files:")
    show(whole, FILES)
    print("and cases:")
    show([(seconds, used, f"{file} {name}") for file, cases in by_file.items() for seconds, used, name in cases], CASES)


main()
