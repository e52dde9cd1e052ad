# SPDX-License-Identifier: GPL-2.0-or-later
"""Core dumps as files: where the kernel writes them, and what is in them (core(5), elf(5))."""
import glob
import os
import re
import struct

from harness import Skip

PT_LOAD, PT_NOTE, PF_X, NT_FILE = 1, 4, 1, 0x46494c45


class Elf:
    """A file's bytes and program headers."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.wide = self.data[4] == 2
        offset = self._unpack("<Q" if self.wide else "<I", 32 if self.wide else 28)[0]
        count = self._unpack("<H", 56 if self.wide else 44)[0]
        self.segments = [self._segment(offset + i * (56 if self.wide else 32)) for i in range(count)]

    def _unpack(self, layout, offset):
        return struct.unpack_from(layout, self.data, offset)

    def _segment(self, at):
        """(type, flags, offset, address, bytes in the file)"""
        if self.wide:
            kind, flags, offset, address, _, size = self._unpack("<IIQQQQ", at)
        else:
            kind, offset, address, _, size, _, flags = self._unpack("<7I", at)
        return kind, flags, offset, address, size

    def text(self, start):
        """What a mapping of the file from `start` on has of its code, not what is in the page behind that."""
        for kind, flags, offset, _, size in self.segments:
            if kind == PT_LOAD and flags & PF_X and offset <= start < offset + size:
                return self.data[start:offset + size]
        return b""


class Core(Elf):
    """A core dump, and the files that the process had mapped."""

    def _notes(self):
        for kind, _, offset, _, size in self.segments:
            end = offset + size
            while kind == PT_NOTE and offset + 12 <= end:
                name, length, what = self._unpack("<3I", offset)
                start = offset + 12 + (name + 3 & ~3)
                yield what, start, length
                offset = start + (length + 3 & ~3)

    def files(self):
        """address → (path, offset)"""
        found = {}
        word, size = ("Q", 8) if self.wide else ("I", 4)
        for what, start, length in self._notes():
            if what != NT_FILE:
                continue
            count, page = self._unpack(f"<2{word}", start)
            names = self.data[start + (2 + 3 * count) * size:start + length].split(b"\0")
            for i in range(count):
                address, _, offset = self._unpack(f"<3{word}", start + (2 + 3 * i) * size)
                found[address] = os.fsdecode(names[i]), offset * page
        return found

    def text_changes(self):
        """(bytes of text that were looked at in all, [path: bytes that differ from the file])"""
        looked, changes, files = 0, [], self.files()
        for kind, flags, offset, address, size in self.segments:
            if kind != PT_LOAD or not flags & PF_X or address not in files:
                continue
            path, start = files[address]
            expected = Elf(path).text(start)[:size]
            actual = self.data[offset:offset + len(expected)]
            looked += len(actual)
            differ = sum(a != b for a, b in zip(actual, expected))
            if differ or len(actual) != len(expected):
                changes.append(f"{path}: {differ} of {len(actual)} bytes")
        return looked, changes


def cores():
    """All files that may be core dumps that a process of ours has just written."""
    with open("/proc/sys/kernel/core_pattern", encoding="utf-8") as file:
        pattern = file.read().strip()
    if pattern.startswith("|") or not os.path.isabs(pattern) and "/" in pattern:
        raise Skip(f"core dumps do not become files: {pattern}")
    return glob.glob(os.path.join(glob.escape(os.getcwd()), re.sub("%.", "*", pattern) + "*"))


def core_path(path, before):
    """The path of the core dump of the program at `path`, which nothing else runs, or None. `before`: what cores() had."""
    for name in sorted(set(cores()) - before):
        try:
            core = Core(name)
        except (OSError, IndexError, struct.error):
            continue  # another one's, that is still written or gone already
        if any(file == path for file, _ in core.files().values()):
            return name
    return None


def core_of(path, before):
    """That core dump, read and removed, or None."""
    name = core_path(path, before)
    if not name:
        return None
    core = Core(name)
    os.unlink(name)
    return core
