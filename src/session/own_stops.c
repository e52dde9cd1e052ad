/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hook stops every thread that comes by, also where no probe ever fires. A service that calls
 * such a function at each request is slowed by it, and only this list says so.
 */
#include "session/own_stops.h"

#include "base/diag.h"
#include "base/strbuf.h"
#include "session/private.h"

/* What is watched there, for the list. Others are hooks of probes: IFUNCs, calls by pointers. */
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

void own_stops_show(const struct session *session)
{
	const struct own_hook hooks[] = {
		{&session->sigaction, "sigaction()"},
		{&session->long_jump, "longjmp()"},
		{&session->long_jump_glibc, "longjmp()"},
		{&session->sigmask, "sigprocmask()"},
		{&session->mask_blocks, "system calls that block signals"},
		{&session->mask_opens, "system calls that unblock signals"},
		{&session->action_call, "system calls that set dispositions"},
		{&session->stack_growth, "runtime.morestack"},
		{&session->go_sigaction, "runtime.rt_sigaction"},
		{&session->linker, "the dynamic linker's changes"},
		{&session->unwinder.hook, "unwinders"},
		{&session->backtrace.hook, "backtraces"},
		{&session->asking.hook, "dlopen() and dlsym()"},
		{&session->ptrace, "ptrace()"},
	};
	const unsigned long long stops = trap_stops(session->trap);
	struct strbuf text = {0};
	const uint64_t own = list(&text, hooks, sizeof hooks / sizeof *hooks);

	if (own)
		diag("%llu breakpoint stops, %llu of them the tracer's own: %s", stops,
		     (unsigned long long)own, text.text);
	else
		diag("%llu breakpoint stops", stops);
	strbuf_deinit(&text);
}
