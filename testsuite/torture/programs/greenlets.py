# SPDX-License-Identifier: GPL-2.0-or-later
"""Greenlets that give way to each other inside traced calls.

All greenlets of a thread have their stacks at one place: what a suspended one has there is copied away.
"""
import ctypes
import sys
import threading

import greenlet

lib = ctypes.CDLL(sys.argv[1])
rounds = int(sys.argv[2])
CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
lib.flow_add.restype = ctypes.c_long
lib.flow_add.argtypes = [ctypes.c_long, ctypes.c_long]
lib.flow_mark.argtypes = [ctypes.c_int]
lib.flow_keep.restype = ctypes.c_long
lib.flow_keep.argtypes = [CALLBACK, ctypes.c_void_p, ctypes.c_long]
lib.flow_mark.restype = None
lock = threading.Lock()
counted = {"flow_add": 0, "flow_mark": 0, "flow_keep": 0}
total = 0


class Worker:
    """The greenlets of one thread."""

    def __init__(self):
        self.sum = 0
        self.main = greenlet.getcurrent()
        self.counted = dict.fromkeys(counted, 0)

    def add(self, a, b):
        self.counted["flow_add"] += 1
        self.sum = (self.sum * 33 ^ lib.flow_add(a, b)) & 0xffffffff

    def mark(self, around):
        self.counted["flow_mark"] += 1
        lib.flow_mark(around)

    def call(self, function, value):
        self.counted["flow_keep"] += 1
        self.sum = (self.sum * 33 ^ lib.flow_keep(CALLBACK(function), None, value)) & 0xffffffff

    def inside(self, number, depth):
        def function(_):
            self.mark(depth)
            if depth < 1 + number % 3:
                self.call(self.inside(number, depth + 1), 1000 * number + depth)
            self.main.switch()
            self.mark(depth)
            self.add(number, depth)
        return function

    def body(self, number):
        for i in range(rounds):
            self.mark(0)
            self.call(self.inside(number, 1), 1000 * number + 500 + i % 500)
            self.mark(0)
            self.add(number, i)
            if i % 2:
                self.main.switch()

    def work(self):
        global total
        greenlets = [greenlet.greenlet(self.body) for _ in range(7)]
        while any(not one.dead for one in greenlets):
            for number, one in enumerate(greenlets):
                if not one.dead:
                    one.switch(*([] if one else [number]))
                    self.mark(0)
        with lock:
            total = (total + self.sum) & 0xffffffff
            for name, number in self.counted.items():
                counted[name] += number


print("ready", flush=True)
sys.stdin.readline()
Worker().work()
threads = [threading.Thread(target=lambda: Worker().work()) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
for name, number in counted.items():
    print("counted", name, number)
print(f"checksum {total:x}")
sys.exit(11)
