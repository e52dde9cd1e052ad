# SPDX-License-Identifier: GPL-2.0-or-later
"""usage: queries.py COUNT FILE [SOCKET]: so many queries of MariaDB, or of SQLite without SOCKET.

Writes "nanoseconds 0" to FILE, as loop does.
"""
import sys
import time


def connect():
    if len(sys.argv) > 3:
        import MySQLdb
        return MySQLdb.connect(unix_socket=sys.argv[3], user="root")
    import sqlite3
    return sqlite3.connect(":memory:", cached_statements=0)


cursor = connect().cursor()
cursor.execute("SELECT 0")
start = time.monotonic_ns()
for number in range(int(sys.argv[1])):
    cursor.execute(f"SELECT {number}, 'a name'")
    assert cursor.fetchone()[0] == number
elapsed = time.monotonic_ns() - start
with open(sys.argv[2], "w", encoding="ascii") as file:
    file.write(f"{elapsed} 0\n")
