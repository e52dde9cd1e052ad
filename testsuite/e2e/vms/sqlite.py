# SPDX-License-Identifier: GPL-2.0-or-later
# Statements of SQLite that are prepared at the start: one that Python keeps, and one of the library itself. They are run as
# lines of stdin say; each sleeps for as many seconds as the first argument says.
import ctypes
import sqlite3
import sys
import time

SECONDS = float(sys.argv[1])
SQL = "SELECT nap(?), 'Python''s'"

connection = sqlite3.connect(":memory:")
connection.create_function("nap", 1, lambda seconds: time.sleep(seconds) or 7)
connection.execute(SQL, (0,)).fetchall()


def python():
    return connection.execute(SQL, (SECONDS,)).fetchone()[0]


library = ctypes.CDLL("libsqlite3.so.0")
library.sqlite3_sql.restype = ctypes.c_char_p
database, statement = ctypes.c_void_p(), ctypes.c_void_p()
library.sqlite3_open(b":memory:", ctypes.byref(database))
library.sqlite3_prepare_v2(database, b"SELECT 1; SELECT 'behind it'", -1, ctypes.byref(statement), None)


# Its text as the library itself tells it, and a step of it.
def own():
    text = library.sqlite3_sql(statement).decode()
    library.sqlite3_step(statement)
    library.sqlite3_reset(statement)
    return text


print("ready", flush=True)
for line in iter(sys.stdin.readline, ""):
    print("result", {"python": python, "own": own}[line.rstrip("\n")](), flush=True)
    print("done", flush=True)
