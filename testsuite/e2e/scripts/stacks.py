# SPDX-License-Identifier: GPL-2.0-or-later
"""Stops in many kinds of Python frames, and says what Python thinks of the stack.

For each stop, each thread that is in one writes "thread TID" and a line "LINE<tab>FILE<tab>FUNCTION" per frame,
innermost first; then the main thread writes "ready" and waits for a byte.
"""
import asyncio
import functools
import os
import sys
import threading
import traceback

lock = threading.Lock()


def own_stack():
    """What is written for this thread; the frame that asks is the innermost."""
    lines = [f"thread {threading.get_native_id()}"]
    for frame, line in traceback.walk_stack(sys._getframe(1)):
        code = frame.f_code
        lines.append(f"{line}\t{code.co_filename}\t{getattr(code, 'co_qualname', code.co_name)}")
    return "\n".join(lines) + "\n"


def write(text):
    with lock:
        os.write(1, text.encode())


def stop(name="stop"):
    write(own_stack() + f"ready {name}\n"), os.read(0, 1)


def recursive(depth):
    if depth:
        return recursive(depth - 1)
    stop("recursive")


class Thing:
    def method(self):
        stop("method")

    @classmethod
    def of_class(cls):
        cls().method()

    @staticmethod
    def of_static():
        Thing.of_class()

    @property
    def attribute(self):
        stop("property")

    def __lt__(self, other):
        stop("lt")
        return False

    def __del__(self):
        stop("del")


def generator():
    yield 1
    stop("generator")
    yield 2


def delegating():
    yield from generator()


def closure():
    free = 1

    def inner(x):
        nonlocal free
        free += x
        stop("closure")

    inner(2)


def many_lines():
    return [
        0,
        stop("many lines"),
        2
    ]


def exceptions():
    try:
        try:
            raise ValueError
        except ValueError:
            stop("except")
            raise KeyError
        finally:
            stop("finally")
    except KeyError:
        pass
    with Manager():
        stop("with")


class Manager:
    def __enter__(self):
        stop("enter")

    def __exit__(self, *exception):
        stop("exit")


def decorator(function):
    @functools.wraps(function)
    def wrapper(*arguments, **named):
        return function(*arguments, **named)
    return wrapper


@decorator
def decorated(a=1, *, b=2):
    stop("decorated")


async def coroutine(depth):
    if depth:
        await coroutine(depth - 1)
    else:
        await asyncio.sleep(0)
        stop("coroutine")


def callbacks():
    sorted([3, 1, 2], key=lambda x: x == 1 and stop("sorted") or x)
    list(map(lambda x: stop("map"), [1]))
    functools.reduce(lambda a, b: stop("reduce"), [1, 2])
    max([Thing(), Thing()])
    [stop("comprehension") for _ in range(1)]
    next(stop("generator expression") for _ in range(1))
    Thing().attribute
    eval("stop('eval')")
    exec("def f():\n\n  stop('exec')\nf()\n", {"stop": stop})


def with_unusual_näme():
    eval(compile("(lambda:\n\n stop('ünï'))()", "/tmp/ürl€𝄞.py", "eval"))


def long_jump_of_lines():
    stop("before")

















































































































































    stop("behind 140 empty lines")


class Worker(threading.Thread):
    def run(self):
        self.work(3)

    def work(self, depth):
        if depth:
            self.work(depth - 1)
        else:
            self.wait()

    def wait(self):
        write(own_stack()), os.write(ready[1], b'r'), os.read(go_on[0], 1)


ready = os.pipe()
go_on = os.pipe()


def threads():
    workers = [Worker() for _ in range(4)]
    for worker in workers:
        worker.start()
    for _ in workers:
        os.read(ready[0], 1)
    stop("threads")
    for _ in workers:
        os.write(go_on[1], b'g')
    for worker in workers:
        worker.join()


def replaced():
    """Code that is freed, and other code that is made at its place."""
    for i in range(140):
        name = f"f{i % 3}"
        code = "\n" * (i % 7) + f"def {name}():\n" + "    1\n" * (i % 2) + f"    stop('replaced')\n{name}()\n"
        exec(compile(code, f"/tmp/file{i % 5}.py", "exec"), {"stop": stop})


recursive(0), recursive(30)
replaced()
Thing.of_static()
list(delegating())
closure()
many_lines()
exceptions()
decorated()
asyncio.run(coroutine(3))
callbacks()
with_unusual_näme()
long_jump_of_lines()
threads()
for turn in range(2):
    stop("module")
class Body:
    stop("class body")
