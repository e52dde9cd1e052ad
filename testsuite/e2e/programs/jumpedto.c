/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that end by a jump to dlsym(), which asks who called it, and to setjmp(), which returns twice. Each is called
 * 100 times; another one is called in between.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

void *jump_to_next(const char *name);
int jump_to_again(jmp_buf place) __attribute__((returns_twice));

/* As compilers make it of `return dlsym(RTLD_NEXT, name);`, and would not of setjmp(). */
__asm__(".text\n"
	".globl jump_to_next\n"
	".type jump_to_next, @function\n"
	"jump_to_next:\n"
	"	mov %rdi, %rsi\n"
	"	mov $-1, %rdi\n"
	"	jmp dlsym@plt\n"
	".size jump_to_next, .-jump_to_next\n"
	".globl jump_to_again\n"
	".type jump_to_again, @function\n"
	"jump_to_again:\n"
	"	nop\n	nop\n	nop\n	nop\n	nop\n"
	"	jmp _setjmp@plt\n"
	".size jump_to_again, .-jump_to_again\n");

__attribute__((noipa)) int other(int value)
{
	return 3 * value + 1;
}

/* It returns five times more for each call. */
static int jump(void)
{
	static jmp_buf place;
	volatile int counted = 0;

	for (volatile int i = 0; i < 100; i++) {
		int again = jump_to_again(place);

		counted += other(again) == 3 * again + 1;
		if (again < 5)
			longjmp(place, again + 1);
	}
	return counted != 600;
}

int main(int count, char **words)
{
	int wrong = 0;

	if (count > 1 && !strcmp(words[1], "again"))
		wrong = jump();
	for (int i = 0; i < 100 && count > 1 && !strcmp(words[1], "next"); i++) {
		wrong += jump_to_next("getpid") == NULL;
		wrong += other(i) != 3 * i + 1;
	}
	printf("wrong %d\n", wrong);
	return wrong != 0;
}
