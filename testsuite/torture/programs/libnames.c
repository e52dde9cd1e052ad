/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose names would steer a terminal, and are no text in any encoding. */
#if defined __x86_64__
#define BODY "	mov %edi, %eax\n	ret\n"
#else
#define BODY "	mov 4(%esp), %eax\n	ret\n"
#endif

#define FUNCTION(name)                                                                             \
	__asm__(".globl \"" name "\"\n.type \"" name "\", @function\n\"" name "\":\n" BODY         \
		".size \"" name "\", . - \"" name "\"\n")

FUNCTION("odd\033[31mred");
FUNCTION("odd\033]0;title\007");
FUNCTION("odd\001\002\177\200\237\377");
FUNCTION("odd\303\050\355\240\200");
