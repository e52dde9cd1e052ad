# SPDX-License-Identifier: GPL-2.0-or-later
"""threads.py LIBGAP THREADS: so many threads that wait, and one that notes the longest time it did not run.

Each line on stdin is answered with that, in ns. With THREADS negative, so many threads that compute, and the answer is how
many rounds they have made.
"""
import ctypes
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
library.gap_take.restype = ctypes.c_longlong
count, rounds = int(sys.argv[2]), [0] * 64


def wait(event, depth):
    return wait(event, depth - 1) if depth else event.wait()


def compute(number):
    while True:
        sum(range(500))
        rounds[number] += 1


for number in range(abs(count)):
    target, arguments = (wait, (threading.Event(), 12)) if count > 0 else (compute, (number,))
    threading.Thread(target=target, args=arguments, daemon=True).start()
if count > 0:
    library.gap_start()
print("ready", flush=True)
for _ in sys.stdin:
    print(library.gap_take() if count > 0 else sum(rounds), flush=True)
