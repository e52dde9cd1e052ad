/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A runtime whose collector knows each frame by the return address in it, as OCaml's does, which has
 * this function. What it does not know ends the process.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 1000, LONG = 4096 };

long caml_start_program(long rounds);

__attribute__((noinline)) static void collect(void **frame)
{
	if ((uintptr_t)frame[1] - (uintptr_t)caml_start_program > LONG)
		abort();
}

/* Keeps a frame pointer, so that its return address is at the second word. */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) long collected_allocate(long size)
{
	collect(__builtin_frame_address(0));
	return size + 1;
}

__attribute__((noinline)) long caml_start_program(long rounds)
{
	long sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += collected_allocate(i);
	return sum;
}

int main(void)
{
	printf("%ld\n", caml_start_program(ROUNDS));
	return EXIT_SUCCESS;
}
