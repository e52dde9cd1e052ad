/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * misleading WAY: hangs in calls whose arguments seem to be somewhere where something else is by now. It
 * first writes the calls as they are made, `NAME(ARGUMENT, …)`, all that there may be.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noipa))

/* No compiler knows these. */
volatile long one = 1, first = 1234, second = 5555, third = 99, sink;

APART void hang(void)
{
#if defined __x86_64__
	/* A function that uses all registers that it has to save. */
	__asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15", "memory");
#elif defined __i386__
	__asm__ volatile("" ::: "esi", "edi", "memory");
#endif
	write(1, "ready\n", 6);
	for (;;)
		sleep(100);
}

/* A pointer to one member is used for another, below it. */
struct link {
	struct link *next;
};

struct job {
	long left;
	struct link link;
};

APART void work(struct link *link)
{
	struct job *job = (struct job *)((char *)link - __builtin_offsetof(struct job, link));

	job->left -= 1000;
	hang();
	sink++;
}

APART long retry(long left)
{
	struct job job;

	job.left = left;
	job.link.next = NULL;
	work(&job.link);
	return job.left;
}

/* The address of a local variable leaves by a vector register, where the compiler uses them. */
APART void use_all(void **at, int count)
{
	for (int i = 0; i < count; i++)
		*(long *)at[i] = 777;
	hang();
	sink++;
}

APART long spread(long value)
{
	long copy = value;
	void *at[64];

	for (int i = 0; i < 64; i++)
		at[i] = &copy;
	use_all(at, 32);
	return copy;
}

APART long spread_members(long value)
{
	struct {
		long values[6];
		void *at[64];
	} all;

	all.values[0] = value;
	for (int i = 0; i < 64; i++)
		all.at[i] = all.values;
	use_all(all.at, 32);
	return all.values[0];
}

/* Each calls the other one in its own place: the frame is that of the last call. */
APART void inner(long value)
{
	hang();
	sink += value;
}

long turn_b(long left, long sum, long last);

APART long turn_a(long left, long sum, long last)
{
	if (left <= 0) {
		inner(sum);
		sink++;
		return last;
	}
	return turn_b(left - 1, sum + 10, last);
}

APART long turn_b(long left, long sum, long last)
{
	(void)last;
	return turn_a(left - 1, sum + 10, third);
}

/* A switch with a case that is split off, and comes back. */
__attribute__((cold, noreturn)) APART void die(long value)
{
	sink = value;
	abort();
}

APART long choose(long way, long value, long other)
{
	switch (way) {
	case 0:
		__asm__ volatile("nop");
		break;
	case 1:
		die(other);
	case 2:
		value *= 3;
		break;
	case 3:
		value = other * other;
		break;
	case 4:
		value ^= other;
		break;
	case 5:
		value -= other;
		break;
	case 6:
		value <<= 2;
		break;
	default:
		break;
	}
	while (one)
		__asm__ volatile("" ::"r"(value));
	return other;
}

/* One instruction that runs long, and changes its operands meanwhile. */
APART void fill(void *at, long size)
{
#if defined __x86_64__ || defined __i386__
	__asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(1) : "memory");
#else
	memset(at, 1, (size_t)size);
#endif
}

static void fill_for_ever(void)
{
	void *volatile memory = malloc(1 << 28);

	printf("fill(%p, %d)\n", memory, 1 << 28);
	fflush(stdout);
	write(1, "ready\n", 6);
	for (;;)
		fill(memory, 1 << 28);
}

/* A parameter is changed where it is, in code that only a label's address leads to. */
void *place[5];

APART void jump_back(void)
{
	if (one)
		__builtin_longjmp(place, 1);
}

APART long again(long value, long other)
{
	if (__builtin_setjmp(place) == 0) {
		jump_back();
		sink += other;
	} else {
		value = 500;
		other = 600;
	}
	sink += 3;
	hang();
	return value + other;
}

/* A parameter is changed in its place, by an instruction and by a pointer; the other one is moved by vectors. */
APART void change(long *value)
{
	*value += third;
}

APART void look(void *at)
{
	(void)at;
}

APART long in_place(long value, long long other)
{
	value += other;
	change(&value);
	if (other) {
		look(&other);
		sink = value == other;
	}
	hang();
	sink = value;
	return other;
}

/* The truth about each activation that may be there. */
static void turn(void)
{
	printf("inner(201)\nturn_a(20, 1, 2)\n");
	for (long left = 19, sum = 11; left >= 0; left--, sum += 10)
		printf("turn_%c(%ld, %ld, %d)\n", left & 1 ? 'b' : 'a', left, sum, left == 19 ? 2 : 99);
	fflush(stdout);
	turn_a(20, 1, 2 * one);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	printf("retry(1234)\nspread(1234)\nspread_members(1234)\nchoose(3, 1234, 99)\n"
	       "again(1234, 99)\nin_place(1234, 5555)\n");
	fflush(stdout);
	if (!strcmp(way, "container"))
		retry(first);
	else if (!strcmp(way, "vectors"))
		spread(first);
	else if (!strcmp(way, "members"))
		spread_members(first);
	else if (!strcmp(way, "again"))
		again(first, third);
	else if (!strcmp(way, "in place"))
		in_place(first, second);
	else if (!strcmp(way, "turns"))
		turn();
	else if (!strcmp(way, "fill"))
		fill_for_ever();
	write(1, "ready\n", 6);
	return (int)choose(3 * one, first, third);
}
