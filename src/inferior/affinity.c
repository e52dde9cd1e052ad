/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stop is a hand-over: the tracee sleeps while the tracer works and the other way round. On two processors each
 * hand-over costs an interrupt to wake the other one up, which in a virtual machine is many times the cost of a plain
 * switch of tasks on the same one (16 µs a traced call against 150 µs, measured). The scheduler does not know that the two
 * never run together, and spreads them.
 *
 * So when one thread has made many stops in a row, the tracer goes to where that thread runs, and looks again now and then.
 * When the stops come from several threads, which do run at the same time, it goes back to running anywhere.
 */
#include "inferior/affinity.h"

#include "base/cleanup.h"
#include "base/xalloc.h"

#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	WINDOW = 64, /* stops looked at together */
	MIXED = 8    /* changes of thread among them that mean several threads */
};

struct affinity {
	cpu_set_t original;
	int pinned; /* processor, or -1 */
	pid_t last;
	unsigned stops, changes; /* in this window */
};

struct affinity *affinity_create(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) < 0 || CPU_COUNT(&set) < 2)
		return NULL;
	struct affinity *affinity = xcalloc(1, sizeof *affinity);

	affinity->original = set;
	affinity->pinned = -1;
	/* The first look comes soon: short traces gain, too. */
	affinity->stops = WINDOW - 8;
	return affinity;
}

static void unpin(struct affinity *affinity)
{
	if (affinity->pinned >= 0)
		sched_setaffinity(0, sizeof affinity->original, &affinity->original);
	affinity->pinned = -1;
}

void affinity_destroy(struct affinity *affinity)
{
	if (!affinity)
		return;
	unpin(affinity);
	free(affinity);
}

/* The processor a thread last ran on: field 39 of /proc/TID/stat (proc(5)), or -1. */
static int processor_of(pid_t tid)
{
	char path[64];
	char text[1024];
	int processor = -1;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)tid);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);

	if (n <= 0)
		return -1;
	text[n] = '\0';
	const char *field = strrchr(text, ')'); /* field 2 ends here */

	for (int number = 2; field && number < 39; number++)
		field = strchr(field + 1, ' ');
	if (!field || sscanf(field, "%d", &processor) != 1)
		return -1;
	return processor;
}

static void pin(struct affinity *affinity, pid_t tid)
{
	int processor = processor_of(tid);
	cpu_set_t set;

	if (processor < 0 || processor >= CPU_SETSIZE || processor == affinity->pinned ||
	    !CPU_ISSET(processor, &affinity->original))
		return;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	if (sched_setaffinity(0, sizeof set, &set) == 0)
		affinity->pinned = processor;
}

void affinity_served(struct affinity *affinity, pid_t tid)
{
	if (!affinity)
		return;
	affinity->changes += tid != affinity->last;
	affinity->last = tid;
	if (++affinity->stops < WINDOW)
		return;
	if (affinity->changes >= MIXED)
		unpin(affinity);
	else
		pin(affinity, tid);
	affinity->stops = affinity->changes = 0;
}
