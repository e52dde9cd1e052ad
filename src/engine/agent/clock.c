/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that tracees read: the processor's, or the system's if the processor's is not reliable.
 *
 * The system's clock is read by the vDSO, which the kernel maps into each process. While the vDSO
 * runs for the agent, a thread's pc is in the vDSO, and only its stack leads to the agent's code:
 * such a thread has to be treated as one inside that code (trap_runs_our_code()).
 *
 * If the kernel cannot provide the time to the vDSO, or not always, the vDSO makes a system call. A
 * seccomp filter may kill a process for a system call that it never made before, so processes with
 * a filter keep breakpoints. So do processes in another time namespace (time_namespaces(7)).
 */
#include "engine/agent/clock.h"

#include "engine/agent/agent_state.h"
#include "object/elf.h"
#include "object/elf_memory.h"
#include "object/elf_symbols.h"
#include "tracee/clock.h"
#include "tracee/proc.h"
#include "tracee/space.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VDSO_MAX = 1 << 20, STACK_SEEN = 512 };
/* READINGS: how often all clocks are read to find one moment. SLACK: units of a clock. */
enum { READINGS = 8, SLACK = 64 };
static const uint64_t MEASURED_NS = 2000000;

uint64_t agent_clock(const struct agent *agent)
{
	return agent->system_clock ? clock_now() : agent->host->clock();
}

/* Returns how far the clock advanced meanwhile. */
static uint64_t read_clocks(const struct agent *agent, struct clock_sample *moment)
{
	const uint64_t before = agent_clock(agent);

	moment->time = clock_now();
	moment->epoch = clock_wall();
	const uint64_t taken = agent_clock(agent) - before;

	moment->clock = before + taken / 2;
	return taken;
}

struct clock_sample agent_now(const struct agent *agent)
{
	struct clock_sample moment, found = {0};
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < READINGS && least > 2 * agent->narrowest + SLACK; i++) {
		const uint64_t taken = read_clocks(agent, &moment);

		if (taken >= least)
			continue;
		least = taken;
		found = moment;
	}
	return found;
}

void clocks_begin(struct agent *agent)
{
	struct clock_sample moment;

	agent->narrowest = UINT64_MAX;
	for (int i = 0; i < READINGS; i++) {
		const uint64_t taken = read_clocks(agent, &moment);

		if (taken >= agent->narrowest)
			continue;
		agent->narrowest = taken;
		agent->begun = moment;
	}
}

struct clock_sample agent_now_measured(const struct agent *agent, double *ns)
{
	while (clock_now() - agent->begun.time < MEASURED_NS)
		nanosleep(&(struct timespec){.tv_nsec = (long)MEASURED_NS}, NULL);
	const struct clock_sample now = agent_now(agent);
	const uint64_t clock = now.clock - agent->begun.clock;

	*ns = clock ? (double)(now.time - agent->begun.time) / (double)clock : 0;
	return now;
}

double agent_ns(const struct agent *agent)
{
	double ns;

	agent_now_measured(agent, &ns);
	return ns;
}

uint64_t agent_clock_units(const struct agent *agent, uint64_t ns)
{
	const struct clock_sample now = agent_now(agent);
	const uint64_t time = now.time - agent->begun.time;
	const uint64_t clock = now.clock - agent->begun.clock;

	return time ? (uint64_t)((double)ns * (double)clock / (double)time) : 0;
}

static bool has_clock_of_ours(pid_t tid)
{
	char path[64], ours[64] = "", theirs[64] = "";

	snprintf(path, sizeof path, "/proc/%d/ns/time", (int)tid);
	/* Before Linux 5.6 neither link exists. */
	return readlink("/proc/self/ns/time", ours, sizeof ours - 1) ==
		       readlink(path, theirs, sizeof theirs - 1) &&
	       !strcmp(ours, theirs);
}

static uint64_t find_function(const struct space *space)
{
	const uint64_t start = space->kernel_code.low;
	struct elf_file *file;
	size_t count;

	if (elf_open_memory(&space->memory, start, VDSO_MAX, &file) != 0)
		return 0;
	const struct elf_symbol *symbol = elf_find_exported(file, "__vdso_clock_gettime");
	const struct elf_segment *segments = elf_segments(file, &count);
	uint64_t function = symbol && count ? symbol->value - segments[0].address + start : 0;

	elf_unref(file);
	return function < space->kernel_code.high ? function : 0;
}

const char *clock_prepare(const struct agent *agent, const struct thread *thread)
{
	struct space *space = thread->process->space;
	struct agent_space *own = agent_space_of(space);

	if (!agent->system_clock)
		return NULL;
	if (proc_status_number(thread->tid, "Seccomp") > 0)
		return "to read the system's clock may need system calls, which seccomp may forbid";
	if (!has_clock_of_ours(thread->tid))
		return "it has a system clock of its own";
	if (!own->clock_function && space_find_kernel_code(space, thread->tid))
		own->clock_function = find_function(space);
	return own->clock_function ? NULL
				   : "there is no function in it that reads the system's clock";
}

uint64_t clock_reader(const struct space *space, const struct regs *regs)
{
	uint64_t words[STACK_SEEN / sizeof(uint64_t)];
	const struct agent_space *own = space->agent;

	if (!own || !space_has_kernel_code(space, regs->pc))
		return 0;
	size_t count = memory_read(&space->memory, regs->r[REG_SP], words, sizeof words) /
		       sizeof *words;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < own->units.count; k++) {
			const struct agent_unit *unit = *(struct agent_unit **)vec_at(&own->units,
										      k);

			if (words[i] == unit->base + AGENT_CLOCK_READ)
				return words[i];
		}
	return 0;
}
