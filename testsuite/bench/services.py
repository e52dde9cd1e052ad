#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What a service loses to a probe that fires once a request: requests per second, traced over untraced.

Debian's own servers, each with its driver and a MariaDB, under a load that keeps all of their
workers busy (wrk). Seconds untraced and seconds traced take turns, so that a change of the
machine's mood meets both; the requests of all traced seconds are compared with those of the
untraced ones on either side. A service whose programs are not installed is left out.

Run by itself: services.py --tracer PATH [--rounds N] [--seconds N] [NAME...]
"""
import argparse
import contextlib
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))

from mariadb import Server
from harness import Skip

GOAL = 0.97
SCRIPTS = os.path.join(HERE, "services")
CONNECTIONS = 4
WORKERS = 2
START_S = 30
PHP_FPM = "/usr/sbin/php-fpm*"

NGINX = """
pid {directory}/nginx.pid;
error_log {directory}/nginx.log;
daemon off;
worker_processes 1;
events {{ worker_connections 256; }}
http {{
  access_log off;
  server {{
    listen 127.0.0.1:{port};
    location / {{
      include /etc/nginx/fastcgi_params;
      fastcgi_param SCRIPT_FILENAME {scripts}/query.php;
      fastcgi_param DATABASE {database};
      fastcgi_pass unix:{directory}/fpm.socket;
    }}
  }}
}}
"""
FPM = """
[global]
error_log = {directory}/fpm.log
daemonize = no
[www]
user = root
group = root
listen = {directory}/fpm.socket
listen.mode = 0666
pm = static
pm.max_children = {workers}
"""


def first_of(pattern):
    import glob
    found = sorted(glob.glob(pattern))
    return found[-1] if found else None


class Service:
    """One of them: its commands, which of its processes do the work, and what to trace."""

    def __init__(self, name, needs, commands, workers, functions):
        self.name, self.needs, self.commands = name, needs, commands
        self.workers, self.functions = workers, functions

    def is_there(self):
        return all(shutil.which(program) or first_of(program) for program in self.needs)


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    return path


def php(directory, port, database):
    names = {"directory": directory, "port": port, "database": database, "scripts": SCRIPTS, "workers": WORKERS}
    return [[first_of(PHP_FPM), "-R", "-y", write(directory, "fpm.conf", FPM.format(**names))],
            ["nginx", "-c", write(directory, "nginx.conf", NGINX.format(**names))]]


def starman(_directory, port, _database):
    return [["starman", "--listen", f"127.0.0.1:{port}", "--workers", str(WORKERS), os.path.join(SCRIPTS, "query.psgi")]]


def puma(_directory, port, _database):
    return [["puma", "-q", "-t", "2:2", "-w", "0", "-b", f"tcp://127.0.0.1:{port}", os.path.join(SCRIPTS, "query.ru")]]


def gunicorn(_directory, port, _database):
    return [["/usr/bin/python3", "/usr/bin/gunicorn", "-w", str(WORKERS), "-b", f"127.0.0.1:{port}", "--chdir", SCRIPTS,
             "query_wsgi:application"]]


SERVICES = [
    Service("PHP-FPM with nginx", ["nginx", PHP_FPM], php, r"pool www", ["mysqlnd_query"]),
    Service("starman", ["starman"], starman, r"starman worker", ["mysql_real_query"]),
    Service("puma", ["puma"], puma, r"puma \d", ["mysql_send_query", "mysql_read_query_result"]),
    Service("gunicorn", ["/usr/bin/gunicorn"], gunicorn, r"gunicorn", ["mysql_real_query"]),
]


def descendants(pids):
    """Those processes and all that came of them."""
    parents = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="latin-1") as file:
            parents[int(pid)] = int(file.read().rpartition(")")[2].split()[1])
    found = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def command_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().replace(b"\0", b" ").decode("latin-1")
    return ""


def workers_of(service, processes):
    """Those that work on requests: the innermost ones whose command says so."""
    found = {pid for pid in descendants([process.pid for process in processes])
             if re.search(service.workers, command_of(pid))}
    return sorted(pid for pid in found if len(found) == 1 or not descendants([pid]) & found - {pid})


@contextlib.contextmanager
def running(service, database):
    directory = tempfile.mkdtemp(prefix="tracer-bench-")
    os.chmod(directory, 0o755)  # servers run their workers as another user
    port = 20000 + os.getpid() % 20000
    environment = {**os.environ, "DATABASE": database}
    processes = [subprocess.Popen(command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
                 for command in service.commands(directory, port, database)]
    try:
        url = f"http://127.0.0.1:{port}/"
        limit = time.monotonic() + START_S
        while not answers(url):
            if time.monotonic() > limit:
                raise RuntimeError(f"{service.name} does not answer")
            time.sleep(0.2)
        load(url, 1)
        yield url, workers_of(service, processes)
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        shutil.rmtree(directory, True)


def answers(url):
    import urllib.request
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.read() == b"answer 42\n"
    except OSError:
        return False


def load(url, seconds):
    """Requests per second of so many seconds."""
    done = subprocess.run(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{seconds}s", url], capture_output=True, text=True, check=True)
    if "Non-2xx" in done.stdout:
        raise RuntimeError(f"errors under load: {done.stdout}")
    return float(re.search(r"Requests/sec:\s*([\d.]+)", done.stdout)[1])


def start_tracer(tracer, service, pids, lines):
    """Waits until it has traced something: then it is attached to all of them."""
    options = [word for name in service.functions for word in ("-x", name)]
    said = open(lines + ".said", "w+b")
    process = subprocess.Popen([tracer, "-v", "-g", "-tt", "-T", *options, "-o", lines, *(word for pid in pids for word in ("-p", str(pid)))],
                               stdin=subprocess.DEVNULL, stdout=said, stderr=said)
    return process, said


def measure(tracer, service, database, rounds, seconds):
    """(traced over untraced, its standard error, own stops a request, lines a request)"""
    ratios, stops, lines, traced_all, untraced_all = [], [], [], 0, 0
    with running(service, database) as (url, pids), tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "lines")
        before = load(url, seconds)
        for _ in range(rounds):
            process, said = start_tracer(tracer, service, pids, path)
            load(url, 1)
            traced = load(url, seconds)
            process.send_signal(signal.SIGINT)
            if process.wait(20) != 0:
                raise RuntimeError(f"the tracer ended with {process.returncode}")
            said.seek(0)
            found = re.search(r"(\d+) breakpoint stops(?:, (\d+) of them)?", said.read().decode("latin-1"))
            stops.append(int(found[1]) / (traced * seconds))
            with open(path, "rb") as file:
                lines.append(sum(service.functions[0].encode() in line for line in file) / (traced * seconds))
            after = load(url, seconds)
            untraced = (before + after) / 2
            ratios.append(traced / untraced)
            traced_all += traced
            untraced_all += untraced
            before = after
    error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
    return traced_all / untraced_all, error, statistics.median(stops), statistics.median(lines)


def measure_services(tracer, rounds=12, seconds=2, only=()):
    """name → (traced over untraced, its standard error, stops a request, lines a request)"""
    found = {}
    if not shutil.which("wrk"):
        return found
    try:
        with Server() as server:
            os.chmod(server.directory, 0o755)
            for service in SERVICES:
                if service.is_there() and (not only or any(word in service.name for word in only)):
                    found[service.name] = measure(tracer, service, server.socket, rounds, seconds)
    except Skip:
        pass
    return found


def print_services(found):
    if not found:
        print("services: wrk, MariaDB or all of the servers are not installed, not measured\n")
        return
    print("| a service under load, its query traced | requests per second, traced over untraced | standard error | stops a request | lines a request |")
    print("|---|---:|---:|---:|---:|")
    for name, (ratio, error, stops, lines) in found.items():
        print(f"| {name} | {ratio:.3f} | {error:.3f} | {stops:.2f} | {lines:.2f} |")
    print(flush=True)


def add_goals(goals, found):
    for name, (ratio, *_) in found.items():
        goals.add(ratio >= GOAL, f"{name}: {ratio:.3f} of its requests per second while traced (at least {GOAL})")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tracer", required=True)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    print_services(measure_services(arguments.tracer, arguments.rounds, arguments.seconds, arguments.names))


if __name__ == "__main__":
    main()
