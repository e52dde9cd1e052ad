# SPDX-License-Identifier: GPL-2.0-or-later
"""Each call of open(2) has its own file and line in its name, hundreds of them: see script_lines.test."""
import asyncio, os, sys, threading
from inspect import currentframe
def here():
    frame = currentframe().f_back
    return "/nonexistent/%s:%d" % (os.path.basename(frame.f_code.co_filename), frame.f_lineno)
def recursive(depth):
    try:
        open(here())
    except OSError as error:
        if depth:
            recursive(depth - 1)
        else:
            raise ValueError from error
class Thing:
    def __lt__(self, other):
        try: open(here())
        except OSError: pass
        return False
    @property
    def attribute(self):
        try: open(here())
        except OSError: return 1
def generator(n):
    for i in range(n):
        try:
            open(here())
        except OSError:
            yield i
        try:
            open(here(),
                 "r")
        except OSError:
            pass
async def inner():
    try: open(here())
    except OSError: pass
    await asyncio.sleep(0)
    try: open(here())
    except OSError: pass
async def outer():
    await inner()
    await asyncio.gather(inner(), inner())
def evaluated(number):
    """Code that is made, run and freed, at lines of its own."""
    source = "\n" * number + "def made():\n try: open(here())\n except OSError: pass\nmade()\n"
    exec(compile(source, "/tmp/made%d.py" % (number % 3), "exec"), {"here": here})
def one_round(number):
    try:
        recursive(3)
    except ValueError:
        try: open(here())
        except OSError: pass
    sorted([Thing(), Thing(), Thing()])
    Thing().attribute
    list(generator(2))
    list(map(lambda v: generator(v).__next__(), [1, 1]))
    asyncio.run(outer())
    evaluated(number)
print("ready", flush=True)
sys.stdin.readline()
for number in range(10):
    one_round(number)
threads = [threading.Thread(target=lambda: [one_round(number) for number in range(5)]) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("done", flush=True)
sys.stdin.readline()
