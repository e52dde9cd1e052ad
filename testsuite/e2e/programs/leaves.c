/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that end by a call that does not return, through the PLT, the GOT and by a pointer, in
 * a function and in its cold part. Behind each is something else: padding, data, what is no
 * instruction, another function, no memory. What lies there must stay as it is; the function is
 * called, too. Then calls that do return: to a breakpoint instruction of the program's own, to the
 * next part of a function that is split, and to a function whose address was pushed. Then a function
 * that is jumped to.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

extern jmp_buf leave_to;
void leave_now(void);
int leave_answer(void);

/* leaves_code.S */
#define LEAVES(name)                                                                               \
	void leaves_##name(void);                                                                  \
	extern const volatile unsigned char behind_##name[8];
#define ALL_BY(X, way)                                                                             \
	X(way##_nops) X(way##_int3) X(way##_ud2) X(way##_data) X(way##_nothing) X(way##_function)
#define ALL(X) ALL_BY(X, plt) ALL_BY(X, got) ALL_BY(X, pointer)

ALL(LEAVES)
void leaves_cold(void);
int next_plt(void), next_got(void), next_pointer(void), next_cold(void);
int returns_to_part(void), returns_to_int3(void), returns_to_pushed(void);
int jumps_with_data(void);

static int changed;

static void leave(void (*function)(void), const volatile unsigned char *behind, const char *name)
{
	unsigned char before[8];

	if (behind)
		memcpy(before, (const void *)behind, sizeof before);
	if (!setjmp(leave_to))
		function();
	if (!behind || !memcmp(before, (const void *)behind, sizeof before))
		return;
	printf("changed: %s\n", name);
	changed++;
}

/* A function at the very end of some memory. */
static void (*make_last(void))(void)
{
	enum { PAGE = 4096 };
	void (*target)(void) = leave_now;
	unsigned char *memory = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#ifdef __x86_64__
	unsigned char code[16] = {0x48, 0x83, 0xec, 8, 0x48, 0xb8, [14] = 0xff, 0xd0};

	memcpy(code + 6, &target, sizeof target);
#else
	unsigned char code[10] = {0x83, 0xec, 12, 0xb8, [8] = 0xff, 0xd0};

	memcpy(code + 4, &target, sizeof target);
#endif
	memcpy(memory + PAGE - sizeof code, code, sizeof code);
	mprotect(memory, PAGE, PROT_READ | PROT_EXEC);
	munmap(memory + PAGE, PAGE);
	return (void (*)(void))(uintptr_t)(memory + PAGE - sizeof code);
}

static volatile sig_atomic_t traps;

static void trapped(int number)
{
	traps += number == SIGTRAP;
}

#define LEAVE(name) leave(leaves_##name, behind_##name, #name);

int main(void)
{
	void (*last)(void) = make_last();
	int sum = 0;

	signal(SIGTRAP, trapped);
	for (int i = 0; i < 3; i++) {
		ALL(LEAVE)
		leave(leaves_cold, NULL, "cold");
		leave(last, NULL, "last");
		sum += next_plt() + next_got() + next_pointer() + next_cold();
		sum += returns_to_part() + returns_to_int3() + returns_to_pushed();
		sum += jumps_with_data();
	}
	printf("changed %d, sum %d, traps %d\n", changed, sum, (int)traps);
	return 0;
}
