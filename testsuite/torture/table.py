#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the tables of doc/RELIABILITY.md of what `make torture` has reported.

    table.py [--ltrace] [--into FILE] REPORT...

REPORT: files of JSON lines as torture.report(), peer.report() and harness.py write them; of several rows
about one case, the long form's count, and the last one. --ltrace: does the same cases under ltrace first and
appends what comes of it to the last REPORT; that takes some minutes, and the environment that the tests
take (TRACER, CC, TESTDIR). --into: replaces what is between the two marks in FILE instead of printing.
"""
import argparse
import collections
import json
import os
import platform
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
BEGIN, END = "<!-- made by testsuite/torture/table.py -->", "<!-- end of what it made -->"
# Those whose cases know how to be done under ltrace (see testsuite/lib/peer.py).
WITH_PEER = ("counts", "churn", "flow", "signals", "processes", "hostile", "storms", "death")
TITLES = {
    "counts.test": "Exact counts", "storms.test": "Attaching and detaching", "churn.test": "Libraries that come and go",
    "flow.test": "Control flow", "signals.test": "Signals", "processes.test": "Processes",
    "death.test": "Death of the tracer", "stranded.test": "Death of the tracer", "hostile.test": "Hostile programs", "soak.test": "Bounded memory and time",
}


def run_under_ltrace(report):
    environment = {**os.environ, "TORTURE_PEER": "1", "TORTURE_REPORT": os.path.abspath(report)}
    environment.pop("TORTURE", None)
    for name in WITH_PEER:
        path = os.path.join(HERE, name + ".test")
        if os.path.exists(path):
            print(f"{name} under ltrace", file=sys.stderr, flush=True)
            subprocess.run([sys.executable, "-B", path], env=environment, stdout=subprocess.DEVNULL, check=False)


def read_rows(paths):
    rows = []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows += map(json.loads, file)
    return rows


class Line:
    """A line of the table: a case, the same for each architecture."""

    def __init__(self):
        self.ours, self.peers = {}, {}  # architecture → row

    def add(self, abi, row):
        if "peer" in row:
            self.peers[abi] = row["peer"]
        elif row.get("long") or not self.ours.get(abi, {}).get("long"):
            self.ours[abi] = row

    def cells(self, case):
        if not self.ours:
            return [case, "", "", "", "", peer_cell(self.peers.values())]
        rows = self.ours.values()
        dates = sorted({row.get("date", "") for row in rows})
        short = "" if all(row.get("long") for row in rows) else " (short form)"
        failed = "".join(sorted({f", **{note}**" for row in rows if "failed" in (note := row.get("note") or "")}))
        return [case, number(total(rows, "runs")), number(total(rows, "survived")) + failed, number(total(rows, "missed")),
                dates[-1] + short, peer_cell(self.peers.values())]


def total(rows, key):
    values = [row.get(key) for row in rows]
    return None if None in values else sum(map(int, values))


def number(value):
    return "–" if value is None else f"{value:,}"


def peer_cell(peers):
    if not peers:
        return ""
    runs, survived, missed, made = (total(peers, key) for key in ("runs", "survived", "missed", "made"))
    text = f"{number(survived)} of {number(runs)}"
    if survived and made:
        text += f"; missed {number(missed)} of {number(made)}"
    return text


def tables(rows):
    """test → case → Line; test → cases that failed"""
    found, failures = collections.defaultdict(dict), collections.defaultdict(dict)
    for row in rows:
        if "failed" in row:
            failures[row["test"]][row["failed"]] = row["why"]
            continue
        match = re.fullmatch(r"(.*?),? ?(x86_64|i386)?", row["case"])
        found[row["test"]].setdefault(match[1], Line()).add(match[2], row)
    return found, failures


def machine():
    with open("/etc/os-release", encoding="utf-8") as file:
        system = re.search(r'^PRETTY_NAME="?([^"\n]*)', file.read(), re.M)
    return (f"{system[1] if system else 'Linux'}, Linux {platform.release()}, {platform.machine()}, "
            f"{os.cpu_count()} processors, virtual")


def peer_names(rows):
    return ", ".join(sorted({row["peer"]["name"] for row in rows if "peer" in row})) or "ltrace"


def made(rows):
    found, failures = tables(rows)
    lines = [BEGIN, "", f"Measured on {machine()}.", ""]
    order = [*TITLES, *sorted({*found, *failures} - {*TITLES})]
    for test in order:
        if test not in found and test not in failures:
            continue
        lines += [f"## {TITLES.get(test, test)} (`torture/{test}`)", ""]
        if found[test]:
            lines += [f"| case | runs | survived | missed calls | measured | under {peer_names(rows)} |",
                      "|---|--:|--:|--:|---|---|"]
            lines += ["| " + " | ".join(line.cells(case.replace("|", "\\|"))) + " |" for case, line in found[test].items()]
            lines.append("")
        for case, why in failures[test].items():
            lines += [f"**Failing**: `{case}`: {' '.join(why.split())[:300]}", ""]
    return "\n".join([*lines, END, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ltrace", action="store_true")
    parser.add_argument("--into")
    parser.add_argument("report", nargs="+")
    arguments = parser.parse_args()
    if arguments.ltrace:
        run_under_ltrace(arguments.report[-1])
    text = made(read_rows(arguments.report))
    if not arguments.into:
        print(text, end="")
        return
    with open(arguments.into, encoding="utf-8") as file:
        before, _, rest = file.read().partition(BEGIN)
    _, _, after = rest.partition(END + "\n")
    with open(arguments.into, "w", encoding="utf-8") as file:
        file.write(before + text + after)


main()
