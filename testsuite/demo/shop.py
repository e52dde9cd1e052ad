# SPDX-License-Identifier: GPL-2.0-or-later
"""A small shop with a database, for pictures: some threads serve requests of several kinds, one of which is slow. It runs until its standard input ends."""
import os
import random
import sqlite3
import sys
import tempfile
import threading
import time

CITIES = ["Lyon", "Porto", "Gent", "Ulm", "Turku", "Brno", "Cork"]
WORKERS = 4


def fill(path):
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
    db.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, total REAL, note TEXT)")
    db.execute("CREATE INDEX by_customer ON orders (customer)")
    db.executemany("INSERT INTO customer (name, city) VALUES (?, ?)", ((f"customer {n}", random.choice(CITIES)) for n in range(5000)))
    db.executemany("INSERT INTO orders (customer, total, note) VALUES (?, ?, ?)",
                   ((random.randrange(5000), n % 997 / 4, f"leave it at number {random.randrange(99999)}") for n in range(60000)))
    db.commit()


def show_customer(db):
    number = random.randrange(5000)
    db.execute(f"SELECT id, city FROM customer WHERE name = 'customer {number}'").fetchone()
    db.execute(f"SELECT count(*), sum(total) FROM orders WHERE customer >= {number} AND customer < {number + 40}").fetchone()


def count_city(db):
    db.execute(f"SELECT count(*) FROM customer WHERE city = '{random.choice(CITIES)}'").fetchone()


def search_notes(db):
    db.execute(f"SELECT id, note FROM orders WHERE note LIKE '%{random.randrange(9999)}%'").fetchall()


def place_order(db):
    db.execute(f"INSERT INTO orders (customer, total, note) VALUES ({random.randrange(5000)}, {random.randrange(900) / 4}, 'new')")


def sales_by_city(db):
    db.execute("SELECT city, sum(total) FROM orders JOIN customer ON customer.id = orders.customer GROUP BY city").fetchall()


REQUESTS = [(show_customer, 60), (count_city, 12), (place_order, 10), (search_notes, 6), (sales_by_city, 1)]


def serve(path):
    db = sqlite3.connect(path, timeout=30, isolation_level=None)
    while True:
        request, = random.choices([request for request, _ in REQUESTS], [weight for _, weight in REQUESTS])
        request(db)
        time.sleep(random.expovariate(25))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as directory:
        database = os.path.join(directory, "shop.db")
        fill(database)
        for _ in range(WORKERS):
            threading.Thread(target=serve, args=(database,), daemon=True).start()
        print("ready", flush=True)
        sys.stdin.read()  # until its other end is closed
