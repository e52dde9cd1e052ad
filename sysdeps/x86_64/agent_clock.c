/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of x86_64: the time-stamp counter.
 *
 * It is reliable if it has one rate in all states of the processor, and is synchronous on all
 * processors. The processor claims the first (constant_tsc, nonstop_tsc; a virtual processor often
 * does not, as it may be moved to another machine). The kernel watches both: it removes a counter
 * that it has found wrong from its clock sources, and it relies on one that it uses as its own
 * clock.
 */
#include "x86_64/agent.h"

#include <stdio.h>
#include <string.h>

#define CLOCK_SOURCES "/sys/devices/system/clocksource/clocksource0/"

/* Reads the first line of a file that begins with `start`, without its newline; false: none. */
static bool read_line(const char *path, const char *start, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool found = false;

	while (file && !found && fgets(line, (int)size, file))
		found = !strncmp(line, start, strlen(start));
	if (file)
		fclose(file);
	if (found)
		line[strcspn(line, "\n")] = '\0';
	return found;
}

/* Words are separated by blanks. */
static bool has_word(const char *line, const char *word)
{
	const size_t length = strlen(word);

	for (const char *at = line; (at = strstr(at, word)); at += length)
		if ((at == line || at[-1] == ' ') && (!at[length] || at[length] == ' '))
			return true;
	return false;
}

bool x86_64_clock_is_steady(void)
{
	char line[8192];

	if (read_line(CLOCK_SOURCES "current_clocksource", "", line, sizeof line) &&
	    !strcmp(line, "tsc"))
		return true;
	if (read_line(CLOCK_SOURCES "available_clocksource", "", line, sizeof line) &&
	    !has_word(line, "tsc"))
		return false;
	return read_line("/proc/cpuinfo", "flags", line, sizeof line) &&
	       has_word(line, "constant_tsc") && has_word(line, "nonstop_tsc");
}

uint64_t x86_64_clock(void)
{
	return __builtin_ia32_rdtsc();
}

bool x86_64_emulate_clock(const uint8_t bytes[AGENT_CLOCK_BYTES], struct regs *regs)
{
	static const uint8_t rdtsc[] = {0x0f, 0x31}, rdtscp[] = {0x0f, 0x01, 0xf9};
	const bool tells_cpu = !memcmp(bytes, rdtscp, sizeof rdtscp);
	uint64_t now = x86_64_clock();

	if (!tells_cpu && memcmp(bytes, rdtsc, sizeof rdtsc) != 0)
		return false;
	regs->r[REG_AX] = (uint32_t)now;
	regs->r[REG_DX] = now >> 32;
	if (tells_cpu)
		regs->r[REG_CX] = 0;
	regs->pc += tells_cpu ? sizeof rdtscp : sizeof rdtsc;
	return true;
}

void x86_64_use_system_clock(uint8_t *code, size_t length)
{
	/*
	 * rdtsc; shl $32,%rdx; or %rdx,%rax: see agent_entry.S. The nop fills up behind the call.
	 */
	static const uint8_t reading[] = {0x0f, 0x31, 0x48, 0xc1, 0xe2, 0x20, 0x48, 0x09, 0xd0};
	static const uint8_t nop[] = {0x0f, 0x1f, 0x40, 0x00};
	enum { CALL = 0xe8, CALL_BYTES = 5 };
	_Static_assert(CALL_BYTES + sizeof nop == sizeof reading, "in the same place");

	for (size_t i = 0; i + sizeof reading <= length; i++) {
		const int32_t distance = AGENT_CLOCK - (int32_t)(i + CALL_BYTES);

		if (memcmp(code + i, reading, sizeof reading) != 0)
			continue;
		code[i] = CALL;
		memcpy(code + i + 1, &distance, sizeof distance);
		memcpy(code + i + CALL_BYTES, nop, sizeof nop);
	}
}
