# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs written in Go, built once into the tests' cache, without a network."""
import os
import shutil
import subprocess
import tempfile

import harness
from harness import CACHE, PROGRAMS, Skip

# Of which each needs the standard library compiled in its own way, which takes some seconds once.
PIE = ("-buildmode=pie",)
EXTERNAL = ("-buildmode=pie", "-ldflags=-linkmode=external")
SHARED = ("-buildmode=c-shared",)
ARCHIVE = ("-buildmode=c-archive",)


def go(source, *flags, output=None, arch="amd64"):
    """Builds one of programs/ with those flags of `go build`; its path."""
    if not shutil.which("go"):
        raise Skip("no go")
    path = os.path.join(PROGRAMS, source)
    output = output or source.rsplit(".", 1)[0]
    command = ["go", "build", *flags]
    directory = os.path.join(CACHE, harness._digest([*command, output, arch], [path]))
    result = os.path.join(directory, output)
    if os.path.exists(result):
        return result
    os.makedirs(CACHE, exist_ok=True)
    temporary = tempfile.mkdtemp(dir=CACHE)
    os.chmod(temporary, 0o755)
    # A copy of its own, as go looks at all files of a source's directory.
    shutil.copy(path, temporary)
    environment = {**os.environ, "GOCACHE": os.path.join(CACHE, "go"), "GOFLAGS": "-mod=mod", "GO111MODULE": "off",
                   "GOPROXY": "off", "GOARCH": arch, "GOTOOLCHAIN": "local", "GOPATH": os.path.join(CACHE, "gopath")}
    done = subprocess.run([*command, "-o", os.path.join(temporary, output), source], cwd=temporary, env=environment,
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        shutil.rmtree(temporary)
        raise Skip(f"go cannot build {source} {' '.join(flags)}: {done.stderr.splitlines()[:2]}")
    try:
        os.rename(temporary, directory)  # another test may have been faster
    except OSError:
        shutil.rmtree(temporary)
    return result


def stripped(path):
    """A copy without symbols, of the same name."""
    copy = os.path.join(harness.scratch(), os.path.basename(path))
    done = subprocess.run(["strip", "-o", copy, path], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skip(f"strip: {done.stderr}")
    return copy
