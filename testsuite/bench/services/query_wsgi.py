# SPDX-License-Identifier: GPL-2.0-or-later
"""One query a request, of a MariaDB at the socket in $DATABASE."""
import os

import MySQLdb

connection = None


def application(_environment, start_response):
    global connection
    if connection is None:
        connection = MySQLdb.connect(unix_socket=os.environ["DATABASE"], user="root")
    cursor = connection.cursor()
    cursor.execute("SELECT 42")
    answer = cursor.fetchone()[0]
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"answer {answer}\n".encode()]
