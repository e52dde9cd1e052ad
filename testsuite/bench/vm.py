# SPDX-License-Identifier: GPL-2.0-or-later
"""A Python process with some 40 modules mapped, whose thread notes the longest time that it did not run.

usage: vm.py LIBGAP. Every line of standard input is answered by the longest gap since the one before, in ns.
"""
import ctypes
import importlib
import select
import sys
import time

for name in ("_asyncio _bz2 _codecs_cn _codecs_jp _contextvars _crypt _ctypes _curses _curses_panel _decimal "
             "_elementtree _hashlib _json _lsprof _lzma _multiprocessing _posixshmem _queue _sqlite3 _ssl _uuid "
             "_zoneinfo audioop mmap readline resource termios MySQLdb").split():
    try:
        importlib.import_module(name)
    except ImportError:
        pass  # another release of Python has others

gap = ctypes.CDLL(sys.argv[1])
gap.gap_take.restype = ctypes.c_longlong
gap.gap_start()
with open("/proc/self/maps", encoding="utf-8") as file:
    mapped = {line.split()[-1] for line in file if ".so" in line or "/python" in line}
print(len(mapped), flush=True)
while True:
    time.sleep(0.001)
    if select.select([sys.stdin], [], [], 0)[0]:
        if not sys.stdin.readline():
            break
        print(gap.gap_take(), flush=True)
