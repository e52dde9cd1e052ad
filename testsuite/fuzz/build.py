#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
build.py MAKE BUILD FUZZER...: in a build with --enable-fuzzers, builds some fuzzers and what of the library they use, which is
a fifth of it. BUILD is another build of the library, which says who defines what. Prints the objects, for
`make libtracer_a_OBJECTS=`.
"""
import os
import subprocess
import sys


def symbols(*arguments):
    done = subprocess.run(["nm", "-A", *arguments], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.splitlines()


def definers(build, objects):
    """symbol → the object that defines it, in another build."""
    lines = symbols("--defined-only", "--extern-only", *(os.path.join(build, path) for path in objects))
    return {line.rsplit(None, 1)[1]: os.path.relpath(line.partition(":")[0], build) for line in lines}


def undefined(paths):
    return {line.rsplit(None, 1)[1] for line in symbols("--undefined-only", *paths)}


def main():
    make, other, *fuzzers = sys.argv[1:]
    build = [*make.split(), "--no-print-directory"]

    def made(*words):  # with the descriptors by which makes share their number of jobs
        subprocess.run([*build, *words], stdout=sys.stderr, check=True, close_fds=False)

    made("built-sources")
    listed = subprocess.run([*build, "-s", "print-objects"], stdout=subprocess.PIPE, text=True, check=True, close_fds=False).stdout.split()
    defined, own = definers(other, listed), [f"{fuzzer}.o" for fuzzer in fuzzers]
    wave, needed = own, set()
    while wave:
        made(*wave)
        wave = sorted({defined[name] for name in undefined(wave) & defined.keys()} - needed)
        needed |= set(wave)
    made(*fuzzers, "libtracer_a_OBJECTS=" + " ".join(sorted(needed)))
    print(*sorted(needed))


main()
