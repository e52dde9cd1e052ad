# SPDX-License-Identifier: GPL-2.0-or-later
# Queries a PostgreSQL in the directory named by the first argument, with the module named by the second one, as lines of stdin say.
import importlib
import sys

module = importlib.import_module(sys.argv[2])
connection = module.connect(f"host={sys.argv[1]} user=postgres dbname=postgres")
connection.autocommit = True


def query(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchone()[1]


query("SELECT 0, 1")
print("ready", flush=True)
for line in iter(sys.stdin.readline, ""):
    _, sql = line.rstrip("\n").split(" ", 1)
    print("result", query(sql), flush=True)
    print("done", flush=True)
