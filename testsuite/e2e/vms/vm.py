# SPDX-License-Identifier: GPL-2.0-or-later
# Queries a MariaDB on the socket named by the first argument, as lines of stdin say; with a second
# argument the driver is loaded from the beginning.
import os
import sys
import threading


def connect():
    import MySQLdb
    return MySQLdb.connect(unix_socket=sys.argv[1], user="root")


def query(sql, connection=None):
    cursor = (connection or connect()).cursor()
    cursor.execute(sql)
    return cursor.fetchone()[0]


def in_threads(sql):
    together = threading.Barrier(3)

    def body(number):
        connection = connect()
        together.wait()
        query(sql.replace("%", str(number)), connection)
    threads = [threading.Thread(target=body, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def in_child(sql):
    pid = os.fork()
    if pid == 0:
        query(sql)
        os._exit(6)
    print("child", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if len(sys.argv) > 2:
    query("SELECT 1")
print("ready", flush=True)
for line in iter(sys.stdin.readline, ""):
    verb, sql = line.rstrip("\n").split(" ", 1)
    if verb == "query":
        print("result", query(sql), flush=True)
    elif verb == "threads":
        in_threads(sql)
    elif verb == "fork":
        in_child(sql)
    print("done", flush=True)
