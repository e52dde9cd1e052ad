#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which tests and cases took longest, as logs of `make check` say: longest.py LOG..."""
import os
import re
import sys
from pathlib import Path

FILES, CASES = 8, 12


def cases_of(log):
    """(seconds, name) of each case in the log of a test."""
    found = re.findall(r"^(?:ok  |FAIL) (\S.*) \((\d+\.\d) s\)$", log.read_text(errors="replace"), re.M)
    return [(float(seconds), name) for name, seconds in found]


def main():
    logs = [Path(name) for name in sys.argv[1:] if os.path.exists(name)]
    by_file = {f"{log.parent.name}/{log.stem}": cases_of(log) for log in logs}
    whole = {file: sum(seconds for seconds, _ in cases) for file, cases in by_file.items() if cases}
    if not whole:
        return
    print(f"{sum(whole.values()):.0f} s of tests on {os.cpu_count()} processors; the longest files:")
    for file in sorted(whole, key=whole.get, reverse=True)[:FILES]:
        print(f"{whole[file]:6.1f} s  {file}")
    print("and cases:")
    every = ((seconds, f"{file} {name}") for file, cases in by_file.items() for seconds, name in cases)
    for seconds, name in sorted(every, reverse=True)[:CASES]:
        print(f"{seconds:6.1f} s  {name}")


main()
