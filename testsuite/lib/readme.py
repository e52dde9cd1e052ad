# SPDX-License-Identifier: GPL-2.0-or-later
"""What README.md tells people to do."""
import os
import re
import shlex

import harness


def slow_queries(driver):
    """The options that the table of slow queries has for a driver, with stamps that can be calculated with, without -p PID."""
    with open(os.path.join(harness.TOP, "README.md"), encoding="utf-8") as file:
        row = next(line for line in file if line.startswith("|") and driver in line)
    return [word.replace("-ttTg", "-tttTg") for word in shlex.split(re.search("`tracer (.*) -p PID`", row)[1])]
