/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hook stops every thread that reaches it, also where no probe is hit. A service that calls such
 * a function at each request is slowed down by that, and this list is the only place that shows it.
 */
#include "target/own_stops.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "target/target_state.h"

/* A hook and its name in the list. All other hooks belong to probes: IFUNCs, indirect calls. */
struct own_hook {
	const struct hook *hook;
	const char *what;
};

static uint64_t list(struct strbuf *text, const struct own_hook *hooks, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t stops = hooks[i].hook->stops;

		if (stops)
			strbuf_printf(text, "%s%llu at %s", sum ? ", " : "",
				      (unsigned long long)stops, hooks[i].what);
		sum += stops;
	}
	return sum;
}

void own_stops_show(const struct target *target)
{
	const struct own_hook hooks[] = {
		{&target->sigaction, "sigaction()"},
		{&target->long_jump, "longjmp()"},
		{&target->long_jump_glibc, "longjmp()"},
		{&target->sigmask, "sigprocmask()"},
		{&target->mask_blocks, "system calls that block signals"},
		{&target->mask_opens, "system calls that unblock signals"},
		{&target->action_call, "system calls that set dispositions"},
		{&target->stack_growth, "runtime.morestack"},
		{&target->go_sigaction, "runtime.rt_sigaction"},
		{&target->linker, "the dynamic linker's changes"},
		{&target->unwinder, "unwinders"},
		{&target->backtrace, "backtraces"},
		{&target->asking, "dlopen() and dlsym()"},
		{&target->ptrace, "ptrace()"},
	};
	const unsigned long long stops = trap_stops(target->trap);
	struct strbuf text = {0};
	const uint64_t own = list(&text, hooks, sizeof hooks / sizeof *hooks);

	if (own)
		diag("%llu breakpoint stops, %llu of them the tracer's own: %s", stops,
		     (unsigned long long)own, text.text);
	else
		diag("%llu breakpoint stops", stops);
	strbuf_deinit(&text);
}
