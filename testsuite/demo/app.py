# SPDX-License-Identifier: GPL-2.0-or-later
"""A small service with a slow query: what ./bootstrap demo attaches to. It runs until it is killed."""
import ctypes
import os
import sqlite3
import time

PR_SET_PTRACER = 0x59616D61
PR_SET_PTRACER_ANY = ctypes.c_ulong(-1)

# Where Yama lets only ancestors attach (Ubuntu), a user needs the target's consent or root.
ctypes.CDLL(None).prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0)

# No cache of prepared statements, so that every query is prepared.
db = sqlite3.connect(":memory:", cached_statements=0)
db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer TEXT, total REAL)")
db.executemany("INSERT INTO orders (customer, total) VALUES (?, ?)",
               ((f"customer {n % 97}", n * 0.25) for n in range(5000)))

SLOW = """WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
SELECT max(i * 2) FROM n"""

requests = 0
while True:
    customer = f"customer {requests % 97}"
    db.execute("SELECT count(*), sum(total) FROM orders WHERE customer = ?", (customer,)).fetchone()
    db.execute(SLOW).fetchone()
    db.execute(f"UPDATE orders SET total = total + 1 WHERE id = {requests % 5000}")
    requests += 1
    with open(os.environ["DEMO_PROGRESS"] + ".new", "w", encoding="ascii") as progress:
        progress.write(f"{requests}\n")
    os.replace(os.environ["DEMO_PROGRESS"] + ".new", os.environ["DEMO_PROGRESS"])
    time.sleep(0.2)
