# SPDX-License-Identifier: GPL-2.0-or-later
"""What the headers of a library say of its functions, as the compiler understands them.

A translation unit that has the address of each function in a variable of the function's own type is compiled with
debug information, and the types are read from that: so typedefs, macros, feature tests and the width of things are
the compiler's business, for either word size, and nothing is parsed here but the listing of readelf(1).
"""
import os
import re
import shlex
import subprocess
from dataclasses import dataclass

PREFIX = "tracer_address_of_"


@dataclass(frozen=True)
class Type:
    kind: str          # void, int, float, pointer, object, function (behind a pointer)
    size: int = 0      # bytes; of a pointer the word
    signed: bool = False
    name: str = ""     # of a base type or an object
    target: "Type" = None
    const: bool = False  # what is pointed to


@dataclass(frozen=True)
class Function:
    name: str
    result: Type
    parameters: tuple
    variadic: bool
    prototyped: bool


class Unavailable(Exception):
    """The headers cannot be compiled here."""


def _compile(text, flags, output, *more):
    compiler = shlex.split(os.environ.get("CC") or "gcc")
    command = [*compiler, "-x", "c", "-", "-c", "-w", "-g", "-gdwarf-4", "-O1", "-D_GNU_SOURCE", "-D_FORTIFY_SOURCE=2",
               "-fmax-errors=0", "-o", output, *flags, *more]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False,
                          env={**os.environ, "LC_ALL": "C"})


def _build(text, flags, output):
    """A program, of which the compiler need not know more than its constants."""
    compiler = shlex.split(os.environ.get("CC") or "gcc")
    command = [*compiler, "-x", "c", "-", "-w", "-O0", "-D_GNU_SOURCE", "-fmax-errors=0", "-o", output, *flags]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"})


def _unit(headers, names):
    """`#undef` uncovers the function below a macro of its name."""
    lines = [line if line.startswith("#") else f"#include <{line}>" for line in headers]
    for name in names:
        lines += [f"#undef {name}", f'__typeof__(&{name}) {PREFIX}{name};']
    return "\n".join(lines) + "\n"


FORM = re.compile(r"^\((?:addr|block\d?|data\d+|exprloc|flag\w*|implicit_const|ref\w+|sdata|sec_offset|str\w*|line_strp|udata)\) ")


def _entries(listing):
    """(depth, offset, tag, attributes) of each entry of a listing by readelf, in order. Some of them show forms."""
    entries = []
    head = re.compile(r" <(\w+)><(\w+)>: Abbrev Number: \d+ \((\w+)\)")
    attribute = re.compile(r"    <\w+> +(DW_AT_\w+) *: (.*)")
    for line in listing.splitlines():
        if match := head.match(line):
            entries.append((int(match[1], 16), int(match[2], 16), match[3], {}))
        elif entries and (match := attribute.match(line)):
            entries[-1][3][match[1]] = FORM.sub("", match[2].strip())
    return entries


def _text(value):
    """A string, wherever it is kept."""
    return value.rsplit("): ", 1)[-1] if "): " in value else value


def _reference(value):
    return int(re.search(r"<0x(\w+)>", value)[1], 16)


class _Types:
    TRANSPARENT = {"DW_TAG_typedef", "DW_TAG_volatile_type", "DW_TAG_restrict_type", "DW_TAG_atomic_type"}
    SIGNED, UNSIGNED = {"5", "6"}, {"2", "7", "8", "16"}

    def __init__(self, entries, word):
        self.entries = {offset: (tag, attributes) for _, offset, tag, attributes in entries}
        self.word = word

    def get(self, attributes, depth=0):
        if "DW_AT_type" not in attributes or depth > 20:
            return Type("void")
        tag, inner = self.entries[_reference(attributes["DW_AT_type"])]
        size = int(inner.get("DW_AT_byte_size", "0"), 0)
        name = _text(inner.get("DW_AT_name", ""))
        if tag in self.TRANSPARENT:
            return self.get(inner, depth + 1)
        if tag == "DW_TAG_const_type":
            return self.get(inner, depth + 1)
        if tag == "DW_TAG_pointer_type":
            return Type("pointer", self.word, target=self.get(inner, depth + 10), const=self._is_const(inner))
        if tag == "DW_TAG_base_type":
            encoding = inner["DW_AT_encoding"].split()[0]
            if encoding == "4":
                return Type("float", size, name=name)
            kind = "int" if encoding in self.SIGNED | self.UNSIGNED else "object"
            return Type(kind, size, encoding in self.SIGNED, name)
        if tag == "DW_TAG_enumeration_type":
            underlying = self.get(inner, depth + 1)
            return Type("int", size, underlying.signed, "enum")
        if tag == "DW_TAG_subroutine_type":
            return Type("function")
        if tag == "DW_TAG_union_type" and size == self.word:
            # Transparent ones (sockets' addresses), and union sigval: passed as the pointer in it.
            return Type("pointer", self.word, target=Type("object"))
        return Type("object", size, name=name)

    def _is_const(self, attributes):
        while "DW_AT_type" in attributes:
            tag, attributes = self.entries[_reference(attributes["DW_AT_type"])]
            if tag == "DW_TAG_const_type":
                return True
            if tag not in self.TRANSPARENT:
                return False
        return False


def _functions(entries, word):
    types = _Types(entries, word)
    wanted = {}      # offset of a function type → names
    for _, _, tag, attributes in entries:
        name = _text(attributes.get("DW_AT_name", ""))
        if tag == "DW_TAG_variable" and name.startswith(PREFIX):
            pointer = types.entries[_reference(attributes["DW_AT_type"])]
            place = _reference(pointer[1]["DW_AT_type"])
            while types.entries[place][0] != "DW_TAG_subroutine_type":  # const and noreturn functions
                place = _reference(types.entries[place][1]["DW_AT_type"])
            wanted.setdefault(place, []).append(name[len(PREFIX):])
    found = {}
    for index, (depth, offset, _, attributes) in enumerate(entries):
        if offset not in wanted:
            continue
        parameters, variadic = [], False
        for below, _, tag, inner in entries[index + 1:]:
            if below <= depth:
                break
            if tag == "DW_TAG_formal_parameter" and below == depth + 1:
                parameters.append(types.get(inner))
            variadic |= tag == "DW_TAG_unspecified_parameters"
        for name in wanted[offset]:
            found[name] = Function(name, types.get(attributes), tuple(parameters), variadic,
                                   "DW_AT_prototyped" in attributes)
    return found


def declared(headers, names, flags, word, directory):
    """The functions among `names` that the headers declare. `word`: bytes of a pointer."""
    output = os.path.join(directory, f"headers{word}.o")
    flags = [f"-m{8 * word}", *flags]
    names = list(dict.fromkeys(names))
    done = _compile(_unit(headers, []), flags, output)
    if done.returncode:
        raise Unavailable(done.stderr.strip().splitlines()[0] if done.stderr.strip() else "the compiler fails")
    done = _compile(_unit(headers, names), flags, output)
    if done.returncode:
        # Of the compiler's own functions there is no address.
        missing = set(re.findall(r"error: '(\w+)' undeclared|built-in function '(\w+)' must be", done.stderr))
        missing = {name for pair in missing for name in pair}
        names = [name for name in names if name not in missing]
        done = _compile(_unit(headers, names), flags, output)
    if done.returncode:
        raise RuntimeError(done.stderr)
    listing = subprocess.run(["readelf", "--debug-dump=info", "-W", output], capture_output=True, text=True, check=True)
    return _functions(_entries(listing.stdout), word)


def _program(headers, names):
    lines = [line if line.startswith("#") or line.endswith(";") else f"#include <{line}>" for line in headers]
    lines += ["int printf(const char *, ...);", "int main(void)", "{"]
    lines += [f'\tprintf("{name} %lld\\n", (long long)({expression}));' for name, expression in names.items()]
    return "\n".join([*lines, "\treturn 0;", "}"]) + "\n"


def constants(headers, names, flags, word, directory):
    """The values of those expressions of C, of which `names` has each a name, that the headers have all words of."""
    program = os.path.join(directory, f"constants{word}")
    flags = [f"-m{8 * word}", *flags]
    done = _build(_program(headers, {}), flags, program)
    if done.returncode:
        raise Unavailable(done.stderr.strip().splitlines()[0] if done.stderr.strip() else "the compiler fails")
    done = _build(_program(headers, names), flags, program)
    if done.returncode:
        missing = set(re.findall(r"error: '(\w+)' undeclared", done.stderr))
        names = {name: expression for name, expression in names.items() if not missing.intersection(re.findall(r"\w+", expression))}
        done = _build(_program(headers, names), flags, program)
    if done.returncode:
        raise RuntimeError(done.stderr)
    listing = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in listing.splitlines())}
