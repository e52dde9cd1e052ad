#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes printable_ranges.inc, which printable.c reads, from the files of the Unicode Character Database.

    src/sink/render/printable_ranges.py /usr/share/unicode >src/sink/render/printable_ranges.inc

The directory has UnicodeData.txt, EastAsianWidth.txt, DerivedCoreProperties.txt and HangulSyllableType.txt, as Debian's package
unicode-data has them. printable.h says what the classes mean, and why a character is in one.
"""
import os
import re
import sys

HIDDEN, MARK, NARROW, WIDE = range(4)
LIMIT = 0x110000
NAMES = "HMNW"
PER_LINE = 8


def fields_of(directory, name):
    with open(os.path.join(directory, name), encoding="utf-8") as file:
        for line in file:
            fields = [field.strip() for field in line.split("#")[0].split(";")]
            if len(fields) > 1:
                yield fields


def ranges_of(directory, name, values):
    """Code points that a file of ranges gives one of these values."""
    for fields in fields_of(directory, name):
        if fields[1] in values:
            first, _, last = fields[0].partition("..")
            yield from range(int(first, 16), int(last or first, 16) + 1)


def categories(directory):
    found = ["Cn"] * LIMIT
    first = None
    for fields in fields_of(directory, "UnicodeData.txt"):
        code, name, category = int(fields[0], 16), fields[1], fields[2]
        if name.endswith(", First>"):
            first = code
            continue
        for point in range(code if first is None else first, code + 1):
            found[point] = category
        first = None
    return found


def classes(directory):
    found = [NARROW] * LIMIT
    for point in ranges_of(directory, "EastAsianWidth.txt", ("W", "F")):
        found[point] = WIDE
    for point in ranges_of(directory, "HangulSyllableType.txt", ("V", "T")):
        found[point] = MARK
    for point, category in enumerate(categories(directory)):
        if category in ("Mn", "Me"):
            found[point] = MARK
        elif category[0] == "C" or category in ("Zl", "Zp"):
            found[point] = HIDDEN
    for point in ranges_of(directory, "DerivedCoreProperties.txt", ("Default_Ignorable_Code_Point",)):
        found[point] = HIDDEN
    return found


def version(directory):
    with open(os.path.join(directory, "EastAsianWidth.txt"), encoding="utf-8") as file:
        return re.search(r"-([\d.]+)\.txt", file.readline())[1]


def main():
    directory = sys.argv[1]
    found = classes(directory)
    starts = [f"{NAMES[found[point]]}(0x{point:04x})," for point in range(LIMIT)
              if not point or found[point] != found[point - 1]]
    print("/* SPDX-License-Identifier: GPL-2.0-or-later */")
    print(f"/* Made by printable_ranges.py from Unicode {version(directory)}: where each range begins, and its class. */")
    for i in range(0, len(starts), PER_LINE):
        print(" ".join(starts[i:i + PER_LINE]))


main()
