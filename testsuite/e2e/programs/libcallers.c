// SPDX-License-Identifier: GPL-2.0-or-later
// Functions that tell where they return to, which they read when the stack pointer has moved.
#include <stdint.h>
#include <string.h>

extern void caller_keep(void *memory);

__attribute__((noinline)) void caller_keep(void *memory)
{
	__asm__ volatile("" : : "r"(memory) : "memory");
}

uintptr_t caller_plain(int number)
{
	char frame[200];

	memset(frame, number, sizeof frame);
	caller_keep(frame);
	return frame[number] == number ? (uintptr_t)__builtin_return_address(0) : 0;
}

__attribute__((optimize("no-omit-frame-pointer"))) uintptr_t caller_framed(int number)
{
	char frame[200];

	memset(frame, number, sizeof frame);
	caller_keep(frame);
	return frame[number] == number ? (uintptr_t)__builtin_return_address(0) : 0;
}
