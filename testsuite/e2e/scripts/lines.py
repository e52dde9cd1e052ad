# SPDX-License-Identifier: GPL-2.0-or-later
"""Each call of open(2) has the number of its own line in its name: see script_lines.test."""
import sys, threading
from inspect import currentframe
def here():
    return currentframe().f_back.f_lineno
def one():
    try:
        open("/nonexistent/%d" % here())
    except OSError:
        pass
class C:
    def two(self, n):
        try:
            open("/nonexistent/%d" % here())
        except OSError:
            if n:
                self.two(n - 1)
print("ready", flush=True)
sys.stdin.readline()
one()
C().two(2)
def gen():
    try:
        open("/nonexistent/%d" % here())
    except OSError:
        pass
    yield 1
for v in gen():
    try: open("/nonexistent/%d" % here())
    except OSError: pass
t = threading.Thread(target=one)
t.start()
t.join()
def key(v):
    try:
        open("/nonexistent/%d" % here())
    except OSError:
        pass
    return v
sorted([3, 1], key=key)
print("done", flush=True)
sys.stdin.readline()
