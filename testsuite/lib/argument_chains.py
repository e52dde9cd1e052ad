# SPDX-License-Identifier: GPL-2.0-or-later
"""
C programs that wait at the end of a chain of calls, for which the generator knows the arguments of each.

The functions keep their arguments, lose them, change them, let others change them, use them in loops, behind early returns, in
switches, and call the next one at their end. All values come from volatile tables, so that no compiler knows them.
"""
import random

TYPES = ("long", "int", "short", "char", "uint", "ulong", "string")
C_TYPES = {"uint": "unsigned", "ulong": "unsigned long", "string": "const char *"}

HEAD = r"""
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
#define EXTERN extern "C"
#else
#define EXTERN
#endif
/* clang passes anything for a parameter that a function it knows does not use. */
#ifdef __clang__
#define APART EXTERN __attribute__((noinline, weak))
#else
#define APART EXTERN __attribute__((noinline))
#endif
volatile long T[4096];
const char *volatile S[64];
volatile long sink, one = 1, zero;
long *kept[64];
int keeps;
APART void touch(void *at, unsigned size) { memset(at, 0x55, size); sink += size; }
APART void peek(const void *at) { sink += *(const char *)at; }
APART void keep(void *at) { kept[keeps++ & 63] = (long *)at; }
APART void fill(char *at, unsigned size) { memset(at, 0x66, size); sink += at[size - 1]; }
APART void fill_down(char *end, unsigned size) { while (size--) *--end = 0x77; sink += *end; }
APART void scramble(long *at, unsigned count) { while (count--) at[count] = ~at[count]; sink += *at; }
APART long early(long x) { if (!one) return x; sink++; return one; }
APART void uses(long x) { sink += x; }
#ifdef __cplusplus
APART void throws(long x) { if (x != 12345678) throw x; }
#endif
APART long wait_here(void)
{
	char c;
	for (int i = 0; i < keeps && i < 64; i++) memset(kept[i], 0x33, 1);
	write(1, "ready\n", 6);
#ifdef SPIN
	for (;;) sink++;
#endif
#if defined __x86_64__
	__asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15", "memory");
#elif defined __i386__
	__asm__ volatile("" ::: "esi", "edi", "memory");
#endif
	read(0, &c, 1);
	return one;
}
"""


def c_type(kind):
    return C_TYPES.get(kind, kind)


class Function:
    """One function of the chain, its parameters, and the values that it is called with."""

    def __init__(self, number, values):
        self.name = f"chain_{number}"
        self.values = values  # (type, value)

    @property
    def prototype(self):
        result = ", ".join(f"{kind} x{i}" for i, (kind, _) in enumerate(self.values))
        return f"long {self.name}({result});"

    def declaration(self):
        parameters = ", ".join(f"{c_type(kind)} x{i}" for i, (kind, _) in enumerate(self.values))
        return f"APART long {self.name}({parameters})"

    def texts(self):
        return [f'"{value}"' if kind == "string" else f"'{value}'" if kind == "char" else str(value) for kind, value in self.values]


class Chain:
    """A program's text, its prototypes, and {name: texts of the arguments}."""

    def __init__(self, seed, length=40):
        self.random = random.Random(seed)
        self.numbers, self.strings = [], []
        self.functions = []
        for number in range(length):
            self.functions.append(Function(number, self.choose_values(self.functions[-1].values if self.functions else [])))
        self.truth = {function.name: function.texts() for function in self.functions}
        self.conf = "\n".join(function.prototype for function in self.functions) + "\n"
        bodies = [self.body(index) for index in reversed(range(length))]
        self.text = "\n".join([HEAD, *bodies, self.main()])

    def choose_value(self, kind):
        if kind == "string":
            self.strings.append(f"text {len(self.strings)}")
            return self.strings[-1]
        if kind == "char":
            return self.random.choice("abcdefghijklmnopqrstuvwxyz")
        low, high = {"short": (-2**15, 2**15), "int": (-2**31, 2**31), "uint": (0, 2**32), "ulong": (0, 2**32), "long": (-2**31, 2**31)}[kind]
        return self.random.randrange(low, high)

    def choose_values(self, before):
        """Some are the caller's own, unchanged, at another place or the same one."""
        values = []
        for i in range(self.random.randrange(1, 9)):
            if before and self.random.random() < 0.4:
                values.append(before[i] if i < len(before) and self.random.random() < 0.6 else self.random.choice(before))
                continue
            kind = self.random.choice(TYPES)
            values.append((kind, self.choose_value(kind)))
        return values

    def expression(self, kind, value, own):
        """An expression for a value in a function with these own values that are unchanged: [(index, type, value)]."""
        same = [index for index, *known in own if known == [kind, value]]
        if same and self.random.random() < 0.9:
            return f"x{self.random.choice(same)}"
        if kind == "string":
            if self.random.random() < 0.3:
                return f'"{value}"'
            return f"S[{self.strings.index(value)}]"
        number = ord(value) if kind == "char" else value
        if self.random.random() < 0.2:
            return f"({c_type(kind)}){number}L{'L' if number == -2**31 else ''}"
        self.numbers.append(number)
        return f"({c_type(kind)})T[{len(self.numbers) - 1}]"

    # ---- statements; each returns lines and the parameters that they change

    def statement(self, i, kind):
        x, c, r = f"x{i}", c_type(kind), self.random
        number = f"(long){x}"
        size = r.choice((8, 24, 100, 300))
        choices = [
            (f"sink += {number};", False),
            (f"if ({number} == 12345678) return 7;", False),
            (f"if (!early({number})) return 8;", False),
            (f"peek(&{x});", False),
            (f"touch(&{x}, sizeof {x});", True),
            (f"keep(&{x});", True),
            (f"{x} += one;", True),
            (f"if (one) {x} = ({c})T[4000];", True),
            (f"if (zero) {x} = ({c})T[4001];", True),
            (f"while (sink & 1 && zero) {x} += 2;", True),
            (f"{{ char buffer[{size}]; fill(buffer, {size}); }}", False),
            (f"{{ char buffer[{size}]; fill_down(buffer + {size}, {size}); sink += buffer[one]; }}", False),
            (f"{{ long numbers[5] = {{ {number}, 1, {number}, 3, one }}; scramble(numbers, 5); sink += numbers[one]; }}", False),
            (f"{{ struct {{ long a; {c} b; long c; }} s = {{ one, {x}, 3 }}; touch(&s, sizeof s); sink += s.a; }}", False),
            (f"{{ char *more = (char *)alloca({size} * one); fill(more, {size}); }}", False),
            (f"{{ {c} copy = {x}; touch(&copy, sizeof copy); sink += (long)copy; }}", False),
            (f"{{ jmp_buf to; if (!setjmp(to)) {{ {x} = ({c})T[4002]; if (one) longjmp(to, 1); }} }}", True),
            ("switch (T[4003] & 7) { case 0: sink++; break; case 1: uses(5); break; case 2: sink ^= 3; break; "
             f"case 3: uses({number}); break; case 4: return 3; case 5: sink *= 7; break; default: sink--; }}", False),
            (f"for (long k = 0; k < one; k++) uses(k + {number});", False),
        ]
        chosen = list(r.choice(choices))
        if r.random() < 0.1:
            chosen[0] = f"\n#ifdef __cplusplus\n\ttry {{ throws({number}); }} catch (long caught) {{ sink += caught; }}\n#endif\n"
            chosen[1] = False
        return chosen

    def call(self, index, own):
        if index + 1 == len(self.functions):
            return "wait_here()"
        function = self.functions[index + 1]
        return f"{function.name}({', '.join(self.expression(kind, value, own) for kind, value in function.values)})"

    def body(self, index):
        function, r = self.functions[index], self.random
        changed, lines = set(), []
        for _ in range(r.choice((0, 0, 1, 2, 3, 4))):
            i = r.randrange(len(function.values))
            text, changes = self.statement(i, function.values[i][0])
            lines.append(text)
            if changes:
                changed.add(i)
        own = [(i, kind, value) for i, (kind, value) in enumerate(function.values) if i not in changed]
        call = self.call(index, own)
        way = r.randrange(8)
        if way == 0:
            lines.append(f"return {call};")
        elif way == 1:
            i = r.randrange(len(function.values))
            lines.append(f"for (long k = 0; k < one; k++) {{ {'' if r.random() < 0.5 else f'sink += (long)x{i};'} sink += {call}; x{i} += 1; }}")
        elif way == 2:
            lines.append(f"if (one) sink += {call}; else uses(3);")
        elif way == 3:
            lines.append(f"switch (one) {{ case 0: uses(2); break; case 1: sink += {call}; break; case 2: sink = 2; break; case 3: uses(9);"
                         " break; case 4: sink ^= 6; break; case 5: uses(6); }")
        else:
            lines.append(f"sink += {call};")
        for i in range(len(function.values)):
            if r.random() < 0.5:
                lines.append(f"uses((long)x{i});")
        lines.append("return sink;")
        return f"{function.declaration()}\n{{\n" + "".join(f"\t{line}\n" for line in lines) + "}"

    def main(self):
        first = self.functions[0]
        call = f"{first.name}({', '.join(self.expression(kind, value, []) for kind, value in first.values)})"
        fill = "".join(f"\tT[{i}] = {number}LL;\n" for i, number in enumerate(self.numbers))
        fill += "".join(f'\tS[{i}] = "{text}";\n' for i, text in enumerate(self.strings))
        return f"int main(void)\n{{\n{fill}\tsink += {call};\n\treturn 0;\n}}\n"
