# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of trace files that was written from doc/TRACE-FORMAT.md alone, and so is a test of it.

Files without packing only: Python's library has no zstd.
"""
import struct
import zlib
from dataclasses import dataclass, field

MAGIC, END = b"\x89tracer\n", b"tracend\n"
CALL, RETURN, UNWOUND, TABLE = 1, 2, 3, 16
SAME_THREAD, EXPECTED, SAME_SHAPE = 32, 64, 128
WORD = 1  # the kind of a value
WRAP = 1 << 64


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def left(self):
        return len(self.data) - self.at

    def take(self, length):
        assert length <= self.left(), "there is less than that"
        self.at += length
        return self.data[self.at - length:self.at]

    def byte(self):
        return self.take(1)[0]

    def number(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number % WRAP

    def folded(self):
        number = self.number()
        return -(number + 1) // 2 if number & 1 else number // 2

    def changed(self, before):
        return (before + self.folded()) % WRAP

    def block(self):
        return Bytes(self.take(self.number()))


@dataclass
class Function:
    kind: int
    name: str
    module: str


@dataclass
class Record:
    kind: int
    pid: int
    tid: int
    time: int
    function: Function = None
    depth: int = 0
    call: int = 0
    stack: int = 0
    number: int = 0
    duration: int = 0
    address: int = 0
    values: list = field(default_factory=list)  # (kind, flags, argument, conversion, size, word, bytes)


class TraceFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        magic, version, size, self.begun, _ = struct.unpack_from("<8sIIQQ", self.data)
        assert magic == MAGIC and version == 1, "a trace file of version 1"
        self.numbered = {kind: [None] for kind in (1, 2, 3, 4, 5, 6, 8)}  # number 0 is nothing
        self.facts, self.names, self.records, self.chunks = {}, {}, [], []
        at = size
        while self.data[at + 8:at + 16] != END:
            at = self._chunk(at)
        self.index, = struct.unpack_from("<Q", self.data, at)
        assert at + 16 == len(self.data), "the end is the end"
        self._compare_index()

    def _chunk(self, at):
        magic, kind, packing, _, stored, size, count, checksum, first, last = struct.unpack_from("<IBBHIIIIQQ", self.data, at)
        assert magic == 0x6b6e6843 and not packing and stored == size, f"a chunk at {at}"
        header = self.data[at:at + 20] + bytes(4) + self.data[at + 24:at + 40]
        content = self.data[at + 40:at + 40 + stored]
        assert zlib.crc32(header + content) == checksum, f"checksum of the chunk at {at}"
        if kind == 1:
            self._dictionary(Bytes(content), count)
        elif kind == 2:
            before = len(self.records)
            self._records(Bytes(content), first)
            assert len(self.records) - before == count, "as many records as the chunk says"
            times = [record.time for record in self.records[before:]]
            assert times[0] == first and max(times) == last, "the times of the chunk"
        if kind != 3:
            self.chunks.append((at, kind, count, first, last))
        else:
            self.rows = [struct.unpack_from("<QIIQQ", content, row * 32) for row in range(count)]
        return at + 40 + stored

    def _compare_index(self):
        assert self.rows == self.chunks, "the index has all chunks"

    def text(self, number):
        return self.numbered[1][number]

    def _dictionary(self, data, count):
        for _ in range(count):
            kind, block = data.byte(), data.block()
            if kind == 1:
                self.numbered[1].append(block.take(block.left()).decode("utf-8", "surrogateescape"))
            elif kind == 3:
                what, name, _, _, module, _ = block.byte(), *(block.number() for _ in range(5))
                self.numbered[3].append(Function(what, self.text(name), self.numbered[8][module]))
            elif kind == 4:
                self.numbered[4].append((block.folded(), block.number(), self.text(block.number())))
            elif kind == 7:
                name, value = block.number(), block.number()
                self.facts[self.text(name)] = self.text(value)
            elif kind == 8:
                self.numbered[8].append(self.text(block.number()))
            elif kind in self.numbered:
                self.numbered[kind].append(block)
        assert not data.left(), "as many entries as the chunk says"

    def _records(self, data, first):
        threads, thread, time, last_call = [], None, first, 0
        latest, shapes = {}, {}  # of functions
        while data.left():
            tag = data.byte()
            if tag == 32:
                tid = data.folded()
                self.names[tid] = bytes(data.block().data)
                continue
            if tag == 64:
                assert 0 < data.number() < len(self.numbered[5]), "a name of code"
                continue
            kind = tag & 31
            if not tag & SAME_THREAD:
                number = data.number()
                if number == len(threads):
                    threads.append({"pid": data.folded(), "tid": data.folded(), "depth": 0, "open": []})
                thread = threads[number]
            time = data.changed(time)
            record = Record(kind, thread["pid"], thread["tid"], time)
            if tag & EXPECTED and kind == CALL:
                function = data.number()
                before = latest.get(function, (0, 0))
                place, record.stack = latest[function] = data.changed(before[0]), data.changed(before[1])
                record.depth, record.call = thread["depth"], last_call + 1
            elif tag & EXPECTED:
                opened, function, place = thread["open"][-1]
                record.duration = data.changed((time - opened.time) % WRAP)
                record.depth, record.call, record.stack = opened.depth, opened.call, opened.stack
            else:
                function = data.number()
                record.depth = data.changed(thread["depth"]) & 0xffffffff
                record.call = data.changed(last_call + 1)
                record.stack, record.number, record.duration, place = data.number(), data.folded(), data.number(), data.number()
            record.address = self.numbered[4][place][1] if place else data.number()
            record.function = self.numbered[3][function]
            self._values(data, record, tag, shapes.setdefault((function, kind == CALL), []))
            if kind == CALL:
                last_call = record.call
                thread["open"].append((record, function, place))
            elif thread["open"] and thread["open"][-1][0].call == record.call and kind in (RETURN, UNWOUND, 14, 15):
                thread["open"].pop()
            if kind in (CALL, RETURN, UNWOUND, 14, 15):
                thread["depth"] = record.depth + (kind == CALL)
            self.records.append(record)

    @staticmethod
    def _values(data, record, tag, shape):
        if tag & SAME_SHAPE:
            heads = [value[:5] for value in shape]
            words = [value[5] for value in shape]
        else:
            heads = [None] * data.number()
            words = [0] * len(heads)
        for head, word in zip(heads, words):
            known = head is not None
            head = head or tuple(data.take(5))
            length = 0 if known and head[0] == WORD else data.number()
            word = data.changed(word)
            record.values.append((*head, word, bytes(data.take(length))))
        shape[:] = record.values
