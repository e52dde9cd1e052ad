# SPDX-License-Identifier: GPL-2.0-or-later
"""A Python process that prepares SQLite statements all the time: what bench.py attaches to."""
import sqlite3
import time

db = sqlite3.connect(":memory:", cached_statements=0)
print("ready", flush=True)
number = 0
while True:
    db.execute(f"SELECT {number}").fetchone()
    number += 1
    time.sleep(0.0005)
