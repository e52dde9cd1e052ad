#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes README.md's pictures, of a recording and of the live view of the small shop beside this file.

    TRACER=./tracer screenshots.py [report|top]

They are written to doc/. The tests' library has the browser and the terminal; its cases are the pictures.
"""
import html
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from browser import Browser
from harness import TOP, TRACER, case, check, environment, equal, main, scratch, tracer
from target import Target
from tmux import Screen

SHOP = os.path.join(HERE, "shop.py")
RECORDED = 12   # seconds
LARGEST = 200_000
# Of a terminal with a dark background: xterm's 16 colours, as far as --top has them.
COLORS = ["#1c1f24", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#dcdfe4"]
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
html {{ background: #1c1f24; }}
pre {{ margin: 0; padding: 14px 18px; display: inline-block; color: #dcdfe4; background: #1c1f24;
       font: 14px/18px "DejaVu Sans Mono", "Liberation Mono", monospace; }}
</style><pre>{}</pre>"""


def style(codes, state):
    """What the codes of one escape sequence (ECMA-48, SGR) make of the state."""
    for code in codes:
        if code == 0:
            state = {}
        elif code in (1, 2, 4, 7):
            state = {**state, code: True}
        elif 30 <= code <= 37 or 90 <= code <= 97:
            state = {**state, "color": COLORS[code % 10]}
        elif 40 <= code <= 47 or 100 <= code <= 107:
            state = {**state, "back": COLORS[code % 10]}
        elif code in (39, 49, 22, 24, 27):
            gone = {39: ("color",), 49: ("back",), 22: (1, 2), 24: (4,), 27: (7,)}[code]
            state = {key: value for key, value in state.items() if key not in gone}
    return state


def as_html(text):
    """A screen with its escape sequences, as spans."""
    parts, state = [], {}
    for piece in re.split(r"(\x1b\[[\d;]*m)", text):
        if piece.startswith("\x1b"):
            state = style([int(code or 0) for code in piece[2:-1].split(";")], state)
            continue
        fore, back = state.get("color", COLORS[7]), state.get("back", COLORS[0])
        if state.get(7):
            fore, back = back, fore
        rules = [f"color: {fore}", f"background: {back}"] + ["font-weight: bold"] * (1 in state) + ["opacity: 0.6"] * (2 in state) + \
            ["text-decoration: underline"] * (4 in state)
        parts.append(f'<span style="{"; ".join(rules)}">{html.escape(piece)}</span>' if piece else "")
    return PAGE.format("".join(parts))


def shoot(url, path, width, height=None, dark=False, prepare=None):
    """A picture of a page; without a height, of as much as it has."""
    with Browser(width, height or 900, dark) as browser:
        browser.open(url)
        if prepare:
            browser.evaluate(prepare)
        if not height:
            box = browser.evaluate("(() => { const box = document.querySelector('pre').getBoundingClientRect(); return [box.width, box.height]; })()")
            browser.resize(*(int(length + 0.99) for length in box))
        equal(browser.complaints(), [], "errors in the console")
        browser.screenshot(path)
    size = os.path.getsize(path)
    check(size < LARGEST, f"{path} has {size} bytes")
    print(f"{os.path.relpath(path)}: {size} bytes")


@case
def report():
    shop, directory = Target("/usr/bin/python3", "-B", SHOP), scratch()
    trace, page = os.path.join(directory, "shop.trace"), os.path.join(directory, "shop.html")
    done = tracer("-W", "-w", "20", f"--duration={RECORDED}s", "@sql-calls", f"--record={trace}", "-p", str(shop.pid))
    equal(done.status, 0, f"the recording: {done.err}")
    equal(tracer(f"--replay={trace}", "-W", "-w", "20", f"--report={page}", "@sql-calls").status, 0, "the report")
    shoot(page, os.path.join(TOP, "doc", "report.png"), 1280, 1230)


@case
def top():
    shop = Target("/usr/bin/python3", "-B", SHOP)
    screen = Screen(132, 14, env={"TRACER_DATADIR": environment()["TRACER_DATADIR"]})
    screen.command(TRACER, "--top", "@top-sql", "-p", str(shop.pid))
    screen.wait_for(r"sum\(total\)")
    time.sleep(RECORDED)
    page = os.path.join(scratch(), "top.html")
    with open(page, "w", encoding="utf-8") as file:
        file.write(as_html(screen.styled()))
    screen.keys("q")
    screen.wait_for(r"\$$")
    shoot(page, os.path.join(TOP, "doc", "top.png"), 1280)


if __name__ == "__main__":
    main()
