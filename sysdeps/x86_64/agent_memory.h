/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the agent's code reads the program's memory: by agent_copy(), agent_copy_string() and
 * agent_load() (agent_services.S). If they fault, the tracer makes the thread continue behind the
 * instruction, and less has been read. `context` is not used.
 */
#ifndef TRACER_SYSDEPS_X86_64_AGENT_MEMORY_H
#define TRACER_SYSDEPS_X86_64_AGENT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AGENT_LOWEST UINT64_C(0x1000)
#define AGENT_HIGHEST UINT64_C(0x100000000000000) /* with 5-level page tables */

/* Both return how many bytes were copied; agent_copy_string() stops behind the NUL. */
size_t agent_copy(void *to, uint64_t from, size_t length);
size_t agent_copy_string(void *to, uint64_t from, size_t length);

struct loaded {
	uint64_t word, is_read;
};
struct loaded agent_load(uint64_t address);

/*
 * Saves a fault for addresses that are never mapped: NULL, small numbers, non-canonical addresses.
 */
static inline bool is_possible(uint64_t address)
{
	return address >= AGENT_LOWEST && address < AGENT_HIGHEST;
}

static inline size_t read_bytes(void *context, uint64_t address, void *buffer, size_t length)
{
	(void)context;
	return is_possible(address) ? agent_copy(buffer, address, length) : 0;
}

static inline bool read_word(void *context, uint64_t address, uint64_t *word)
{
	const struct loaded loaded = is_possible(address) ? agent_load(address)
							  : (struct loaded){0, 0};

	(void)context;
	*word = loaded.word;
	return loaded.is_read;
}

static inline size_t read_string(void *context, uint64_t address, void *buffer, size_t length)
{
	(void)context;
	return is_possible(address) ? agent_copy_string(buffer, address, length) : 0;
}

#endif
