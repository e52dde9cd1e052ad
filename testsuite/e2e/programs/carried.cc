/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways that the address of a library's function takes within a function before it is called, one in
 * each. Every round makes as many calls of getenv as the last line says.
 */
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#define WAY extern "C" __attribute__((noinline, noclone)) void

typedef char *function(const char *name);

struct object {
	long before;
	function *run;
	function *other;
};

static int calls;
static object global;
static function *variable;
static volatile int seven = 7;

extern "C" __attribute__((noinline, noclone)) char *own(const char *name)
{
	calls += name[0] - '0';
	return NULL;
}

__attribute__((noinline, noclone)) static void work(int *number)
{
	*number += seven;
	if (*number > 1000000)
		throw *number;
}

/* By one of two registers, or none. */
WAY way_chosen(int which)
{
	function *run = which ? getenv : own;

	run("0 chosen");
	if (which > 5)
		run = own;
	run("0 chosen");
}

/* Kept while others are called. */
WAY way_kept(int count)
{
	function *run = getenv;
	int number = 0;

	for (int i = 0; i < count; i++) {
		work(&number);
		run("0 kept");
	}
}

/* In an array on the stack, from one element to the next. */
WAY way_array(int count)
{
	function *all[4];

	all[0] = all[2] = getenv;
	all[1] = all[3] = own;
	for (function **one = all; one < all + (count & 3) + 1; one++)
		(*one)("0 array");
	all[count & 1] = getenv;
	all[count & 1]("0 array");
}

/* In more variables than there are registers. */
WAY way_spilled(int a, int b, int c, int d)
{
	function *volatile first = getenv;
	function *second = getenv;
	int e = a + b, f = b + c, g = c + d, h = d * a, i = a ^ c, j = b | d, k = e * f;

	for (int n = 0; n < 3; n++) {
		work(&e), work(&f), work(&g), work(&h), work(&i), work(&j), work(&k);
		if (n == 1)
			second("0 spilled");
	}
	calls += (e + f + g + h + i + j + k) / 1000000;
	first("0 spilled");
}

/* In an object that is elsewhere, and in a variable. */
WAY way_object(object *object)
{
	int number = 0;

	object->run = getenv;
	variable = getenv;
	work(&number);
	object->run("0 object");
	if (number)
		variable("0 object");
}

/* Compared with what is called then. */
WAY way_compared(object *object)
{
	if (object->other != getenv)
		return;
	object->other("0 compared");
	own("0");
	object->other("0 compared");
	own("0"); /* a tail call by way of an object is not looked for */
}

/* Two at once. */
WAY way_pair(object *object)
{
	struct {
		function *one, *two;
	} pair;
	int number = 0;

	pair.one = getenv;
	pair.two = getenv;
	work(&number);
	if (number == 7)
		object->run = pair.one, object->other = pair.two;
	pair.two("0 pair");
	pair.one("0 pair");
}

/* Beyond a switch. */
WAY way_switch(int which)
{
	function *run = getenv;
	int number = which;

	switch (which) {
	case 0: work(&number); break;
	case 1: number += 3; break;
	case 2: number *= 5; work(&number); break;
	case 3: run = own; break;
	case 4: number ^= 9; break;
	case 5: number -= 7; work(&number); break;
	case 6: number = seven; break;
	default: abort();
	}
	calls += number / 1000000;
	run("0 switch");
}

/* Where an exception is caught. */
WAY way_caught(int big)
{
	function *run = getenv;
	int number = big;

	try {
		work(&number);
		run("0 caught");
	} catch (int) {
		run("0 caught");
	}
}

/* Where a longjmp leads to. */
WAY way_jump(int count)
{
	static jmp_buf buffer;
	function *volatile run = getenv;
	volatile int turns = 0;

	setjmp(buffer);
	run("0 jump");
	if (++turns < count)
		longjmp(buffer, 1);
}

/* As the last thing that a function does, and by recursion. */
extern "C" __attribute__((noinline, noclone)) char *way_last(int depth)
{
	function *run = getenv;
	int number = depth;

	if (depth)
		return way_last(depth - 1);
	work(&number);
	return (number & 1 ? run : own)("0 last");
}

int main()
{
	object object = {0, own, getenv};

	way_chosen(1);         /* 2 */
	way_chosen(6);         /* 1 */
	way_kept(3);           /* 3 */
	way_array(2);          /* 2 + 1 */
	way_spilled(1, 2, 3, 4); /* 2 */
	way_object(&object);   /* 2 */
	way_object(&global);   /* 2 */
	way_compared(&object); /* 2 */
	way_pair(&object);     /* 2 */
	for (int i = 0; i < 7; i++)
		way_switch(i); /* 6 */
	way_caught(1);         /* 1 */
	way_caught(1000000);   /* 1 */
	way_jump(3);           /* 3 */
	way_last(4);           /* 1 */
	printf("%d\n", 31 + calls);
	return 0;
}
